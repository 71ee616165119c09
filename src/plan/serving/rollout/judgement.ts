/** Judges an interval: each new version by its limits, absolute or relative to the stable versions. Pure arithmetic. */
import type { AnalysisStatus } from '../../../api/rollout-status.ts'
import { isQueryMetric } from '../../../api/serving-analysis-metric.ts'
import type { Analysis } from '../../../api/serving-rollout.ts'
import { type CustomValues, exceededBy, unknownMetric } from './custom-metrics.ts'
import { type Reference, referenceIn } from './interval.ts'
import { errorMillionths, type Figures, latencyMicros, NO_FIGURES, plus } from './figures.ts'
import { millionths } from './percent.ts'

export interface Interval {
  readonly figures: ReadonlyMap<string, Figures>
  readonly candidates: readonly string[]
  readonly stable: readonly string[]
  /** The stable versions get no more traffic: only what was known of them before can be compared. */
  readonly isLast: boolean
  readonly recorded: Reference
  /** What the queries of the user have found. */
  readonly queried?: CustomValues
}

export type Judgement = Pick<
  AnalysisStatus,
  'version' | 'metric' | 'value' | 'threshold' | 'stableErrorRate' | 'stableLatencyMs'
> & {
  readonly result: 'Pass' | 'Fail' | 'Inconclusive'
  /** The versions that an inconclusive interval waits for. */
  readonly lacking?: string
  /** The figure of theirs that the source does not have. Absent: they have too few requests. */
  readonly missing?: string
}

type MissingFigure = 'latencyMs' | 'latencyP99Ms'

interface Finding {
  readonly version: string
  readonly metric: string
  /** Percent or milliseconds, in ten-thousandths and thousandths. */
  readonly value: number
  readonly threshold: number
  readonly unit: number
}

const PERCENT = 10_000
const MS = 1000

export function judge(analysis: Analysis, interval: Interval): Judgement {
  const { figures, candidates } = interval
  const reference = referenceOf(analysis, interval)
  const enough = candidates.filter((name) => (figures.get(name)?.requests ?? 0) >= analysis.minRequests)
  const findings = enough.flatMap((name) => findingsOf(analysis, name, figures.get(name) ?? NO_FIGURES, reference))
  const failed = findings.find(({ value, threshold }) => value > threshold)
  if (failed) return { result: 'Fail', ...shown(failed), ...reference }
  const exceeded = interval.queried && exceededBy(interval.queried, enough, interval.stable)
  if (exceeded) return { result: 'Fail', ...exceeded, ...reference }
  const few = candidates.filter((name) => !enough.includes(name))
  const silent = few.find((name) => (figures.get(name)?.requests ?? 0) === 0)
  if (silent !== undefined && analysis.noTraffic === 'Fail')
    return {
      result: 'Fail',
      version: silent,
      metric: 'requests',
      value: 0,
      threshold: analysis.minRequests,
      ...reference,
    }
  const waited = analysis.noTraffic === 'Pass' ? few.filter((name) => (figures.get(name)?.requests ?? 0) > 0) : few
  const lacking = waited.length > 0 ? waited.join(', ') : missingReference(analysis, interval, reference)
  if (lacking !== undefined) return { result: 'Inconclusive', lacking, ...reference }
  const unknown = unknownFigure(analysis, interval, enough) ?? unknownCustom(interval, enough)
  if (unknown) return { result: 'Inconclusive', ...unknown, ...reference }
  const [closest] = findings.toSorted((one, other) => other.value * one.threshold - one.value * other.threshold)
  return { result: 'Pass', ...(closest && shown(closest)), ...reference }
}

/** The latest figures of the stable versions, if there were enough requests. */
function referenceOf({ minRequests }: Analysis, { figures, stable, recorded }: Interval): Reference {
  const total = stable.reduce((sum, name) => plus(sum, figures.get(name) ?? NO_FIGURES), NO_FIGURES)
  if (total.requests < minRequests) return referenceIn(recorded)
  const latency = latencyMicros(total)
  const stableErrorRate = errorMillionths(total) / PERCENT
  return { stableErrorRate, ...(latency !== undefined && { stableLatencyMs: latency / MS }) }
}

const unknownCustom = ({ queried, stable, isLast }: Interval, enough: readonly string[]) =>
  queried && unknownMetric(queried, enough, isLast ? [] : stable)

/** A figure that a limit needs, of a version with enough requests. */
function unknownFigure(
  { maxLatencyMs, maxLatencyRatio, maxLatencyP99Ms }: Analysis,
  { figures, stable, isLast, recorded }: Interval,
  enough: readonly string[],
): Pick<Judgement, 'lacking' | 'missing'> | undefined {
  const without = (names: readonly string[], missing: MissingFigure) => {
    const found = names.filter((name) => figures.get(name)?.[missing] === undefined)
    return found.length > 0 ? { lacking: found.join(', '), missing } : undefined
  }
  const isRelative = maxLatencyRatio !== undefined && !isLast && recorded.stableLatencyMs === undefined
  return (
    (maxLatencyMs === undefined && maxLatencyRatio === undefined ? undefined : without(enough, 'latencyMs')) ??
    (isRelative
      ? without(
          stable.filter((name) => (figures.get(name)?.requests ?? 0) > 0),
          'latencyMs',
        )
      : undefined) ??
    (maxLatencyP99Ms === undefined ? undefined : without(enough, 'latencyP99Ms'))
  )
}

/** Figures or queries are judged. Jobs need no interval. */
export const hasLimits = (analysis: Analysis): boolean =>
  isRelative(analysis) ||
  [analysis.maxErrorRate, analysis.maxLatencyMs, analysis.maxLatencyP99Ms].some((limit) => limit !== undefined) ||
  (analysis.metrics?.some(isQueryMetric) ?? false)

/** A limit is relative to the stable versions. */
export const isRelative = ({ maxErrorRateRatio, maxLatencyRatio }: Analysis): boolean =>
  maxErrorRateRatio !== undefined || maxLatencyRatio !== undefined

/** The stable versions, if a limit is relative to them, and they get traffic but are not known yet. */
function missingReference(analysis: Analysis, { stable, isLast }: Interval, known: Reference): string | undefined {
  return isRelative(analysis) && !isLast && known.stableErrorRate === undefined ? stable.join(', ') : undefined
}

function findingsOf(analysis: Analysis, version: string, figures: Figures, known: Reference): Finding[] {
  const errors = { version, metric: 'errorRate', value: errorMillionths(figures), unit: PERCENT }
  const { maxErrorRate, maxErrorRateRatio, maxLatencyMs, maxLatencyRatio, maxLatencyP99Ms } = analysis
  const limit = (metric: string, value: number | undefined, threshold: number | undefined): Finding[] =>
    value === undefined || threshold === undefined ? [] : [{ version, metric, value, threshold, unit: MS }]
  const average = latencyMicros(figures)
  const p99 = figures.latencyP99Ms
  const { stableErrorRate, stableLatencyMs } = known
  const relative = (value: number, unit: number, ratio: string): number =>
    Math.round((Math.round(value * unit) * millionths(ratio)) / 1_000_000)
  return [
    ...(maxErrorRate === undefined ? [] : [{ ...errors, threshold: millionths(maxErrorRate) }]),
    ...limit('latencyMs', average, maxLatencyMs && maxLatencyMs * MS),
    ...limit(
      'latencyP99Ms',
      p99 === undefined ? undefined : Math.round(p99 * MS),
      maxLatencyP99Ms && maxLatencyP99Ms * MS,
    ),
    ...(maxErrorRateRatio === undefined || stableErrorRate === undefined
      ? []
      : [{ ...errors, threshold: relative(stableErrorRate, PERCENT, maxErrorRateRatio) }]),
    ...(maxLatencyRatio === undefined || stableLatencyMs === undefined
      ? []
      : limit('latencyMs', average, relative(stableLatencyMs, MS, maxLatencyRatio))),
  ]
}

const shown = ({ version, metric, value, threshold, unit }: Finding) => ({
  version,
  metric,
  value: value / unit,
  threshold: threshold / unit,
})
