/** The analysis of a step: intervals one after another, each recorded with its counters before it is judged. */
import type { AnalysisStatus } from '../../../api/rollout-status.ts'
import type { Analysis } from '../../../api/serving-rollout.ts'
import { millis, notBefore } from '../../time.ts'
import { isLast, type Stage, watchEnd } from './stage.ts'
import type { AnalysisSource, Readings, Unread } from './analysis-source.ts'
import { customValues } from './custom-metrics.ts'
import { closed, endOf, inconclusive, referenceIn } from './interval.ts'
import { hasLimits, type Interval, isRelative, judge, type Judgement } from './judgement.ts'
import { HEALTHY_PODS, sickCandidate } from './pod-health.ts'
import { prometheusSource } from './prometheus-source.ts'
import { reportSource } from './report-source.ts'
import { isPreview } from './strategy.ts'
import { gaining, losing } from './way.ts'

export interface Analysed {
  readonly analysis?: AnalysisStatus
  /** What exceeded its limit, often enough to end the rollout. */
  readonly failure?: string
  /** End of the present interval, in milliseconds of the epoch. */
  readonly endsAt?: number
  /** The last interval passed, or there is no analysis. */
  readonly isPassed: boolean
  /** What an interval that is over waits for. */
  readonly lacking?: string
  /** Its figures cannot be read now: neither the step nor the watch goes on. */
  readonly isUnread?: true
}

/** Absent where nothing is judged. Before a switch, only the stable versions are measured, for limits relative to them. */
function specOf(stage: Stage): Analysis | undefined {
  const { travel, state } = stage
  const { analysis } = travel.spec.rollout
  // The old versions may be kept for longer than the new ones are judged.
  const isWatchOver = (millis(state.analysis?.since) ?? 0) >= watchEnd(stage)
  if (!analysis || !hasLimits(analysis) || travel.isReturn || isWatchOver) return undefined
  return isPreview(state) && !isRelative(analysis) ? undefined : analysis
}

/** Proxies that count are exact. Others are asked about at Prometheus, if there is one. */
function sourceOf({ view, routing }: Stage): AnalysisSource | undefined {
  if (routing.current.provider.proxyName !== undefined) return reportSource
  return view.observed.measured ? prometheusSource : undefined
}

/** The first interval of a step. */
export function opened(stage: Stage): AnalysisStatus | undefined {
  const { view, state } = stage
  if (!specOf(stage)) return undefined
  const source = sourceOf(stage)
  const counters = source?.opening(view.observed)
  const since = notBefore(view.now)
  return {
    ...(state.analysis && closed(state.analysis)),
    since,
    counters: [...(counters ?? [])],
    ...(source && counters && { source: source.name }),
  }
}

export function analyse(stage: Stage): Analysed {
  const spec = specOf(stage)
  const { analysis } = stage.state
  if (!spec) return { ...unanalysed(stage), ...(analysis && { analysis }) }
  const source = sourceOf(stage)
  if (!analysis || isClosed(stage, analysis, source)) return { isPassed: false, ...reopened(stage) }
  const endsAt = endOf(stage.state, spec)
  const isPassed = analysis.result === 'Pass'
  if (stage.view.now < endsAt) return { analysis, endsAt, isPassed }
  const sick = sickOf(stage)
  if (sick) return concluded(stage, analysis, { ...sick, ...referenceIn(analysis) }, spec.failureLimit)
  const readings = readingsOf(stage, source, analysis, endsAt)
  const queried = customValues(spec.metrics ?? [], stage.view.observed.measured, endsAt)
  if (!('figures' in readings)) return { analysis, endsAt, isPassed, ...unread(readings) }
  if (!('metrics' in queried)) return { analysis, endsAt, isPassed, ...unread(queried) }
  const judgement = judgementOf(stage, { figures: readings.figures, queried }, spec)
  // A step that has passed stays so until an interval fails.
  if (judgement.result === 'Inconclusive' && isPassed) return { analysis, isPassed }
  return concluded(stage, analysis, judgement, spec.failureLimit)
}

/** Without an analysis, only sick pods end the rollout. */
function unanalysed(stage: Stage): Pick<Analysed, 'failure' | 'isPassed'> {
  const sick = stage.travel.isReturn ? undefined : sickOf(stage)
  return sick ? { isPassed: false, failure: accountOf(sick) } : { isPassed: true }
}

const sickOf = ({ view, travel: { stable, destination } }: Stage): Judgement | undefined =>
  sickCandidate(view, gaining(stable, destination))

/** No interval is open for this source, and one can begin. */
const isClosed = ({ view }: Stage, analysis: AnalysisStatus, source: AnalysisSource | undefined): boolean =>
  source !== undefined && analysis.source !== source.name && source.opening(view.observed) !== undefined

function readingsOf(
  { view }: Stage,
  source: AnalysisSource | undefined,
  analysis: AnalysisStatus,
  endsAt: number,
): Readings {
  const { since, counters } = analysis
  return source?.readings(view.observed, { sinceMs: millis(since) ?? 0, endsAt, counters }) ?? { figures: new Map() }
}

const unread = ({ isPending, says }: Unread): Pick<Analysed, 'lacking' | 'isUnread'> => ({
  ...(isPending && { isUnread: isPending }),
  ...(says !== undefined && { lacking: says }),
})

function judgementOf(stage: Stage, read: Pick<Interval, 'figures' | 'queried'>, spec: Analysis): Judgement {
  const { travel, state } = stage
  const { stable, destination } = travel
  return judge(spec, {
    ...read,
    candidates: isPreview(state) ? [] : gaining(stable, destination),
    stable: losing(stable, destination),
    isLast: isLast(stage),
    recorded: state.analysis ?? {},
  })
}

/** Nothing is counted yet, or no more since the rollout was paused. */
function reopened(stage: Stage): Pick<Analysed, 'analysis'> {
  const analysis = opened(stage)
  return analysis ? { analysis } : {}
}

/** An interval with too few requests goes on. Any other ends, and the next one begins. */
function concluded(stage: Stage, before: AnalysisStatus, judgement: Judgement, limit: number): Analysed {
  const { lacking: _lacking, missing: _missing, ...figures } = judgement
  if (figures.result === 'Inconclusive')
    return {
      analysis: inconclusive(before),
      isPassed: false,
      lacking: `${lackingOf(stage, judgement)} since ${before.since}`,
    }
  const isFail = figures.result === 'Fail'
  const failures = (before.failures ?? 0) + (isFail ? 1 : 0)
  const next = opened({ ...stage, state: { ...stage.state, analysis: { ...before, ...figures, failures } } })
  const times = failures > 1 ? `, ${failures} times` : ''
  return {
    ...(next && { analysis: next }),
    isPassed: !isFail,
    endsAt: stage.view.now + (specOf(stage)?.intervalSeconds ?? 0) * 1000,
    ...(isFail && failures >= limit && { failure: `${accountOf(judgement)}${times}` }),
  }
}

function lackingOf(stage: Stage, { lacking: versions = '', missing }: Judgement): string {
  const { travel, routing } = stage
  const source = sourceOf(stage)
  if (!source)
    return `the traffic provider ${routing.current.provider.name} reports no figures of ${versions}, and the operator has no prometheus.url`
  if (missing !== undefined) {
    const isCustom = travel.spec.rollout.analysis?.metrics?.some(({ name }) => name === missing)
    const asked = isCustom ? prometheusSource : source
    return `${asked.name} has no ${missing} of ${versions}: remove the limit from spec.rollout.analysis, or provide the series`
  }
  const { spec } = travel
  return `waiting for requests: ${versions} has fewer than ${spec.rollout.analysis?.minRequests ?? 0} (minRequests)`
}

const UNITS: Readonly<Record<string, string>> = { errorRate: ' %', latencyMs: ' ms', latencyP99Ms: ' ms' }

/** `errorRate of v2 is 20 %, above 1 %` */
export function accountOf({ version = '', metric = '', value = 0, threshold = 0 }: Partial<Judgement>): string {
  if (metric === 'requests') return `${version} got no requests (noTraffic: Fail)`
  if (metric === HEALTHY_PODS) return `only ${value} % of the pods of ${version} are healthy, below ${threshold} %`
  const unit = UNITS[metric] ?? ''
  return `${metric} of ${version} is ${value}${unit}, ${value < threshold ? 'below' : 'above'} ${threshold}${unit}`
}
