/** Judges the metrics of a user: each new version by the values that its queries have. */
import { type AnalysisMetric, isQueryMetric, type QueryMetric } from '../../../api/serving-analysis-metric.ts'
import type { Measured } from '../measure/answers.ts'
import { CUSTOM, customProblem } from '../measure/custom-query.ts'
import { questionId } from '../measure/questions.ts'
import type { Unread } from './analysis-source.ts'
import type { Judgement } from './judgement.ts'
import { millionths } from './percent.ts'
import { answersOf } from './prometheus-source.ts'

export interface CustomValues {
  readonly metrics: readonly QueryMetric[]
  /** Undefined: Prometheus has no number. */
  readonly valueOf: (metric: string, version: string) => number | undefined
}

/** Without a value for every query of the interval there is no judgement. */
export function customValues(
  all: readonly AnalysisMetric[],
  measured: Measured | undefined,
  endsAt: number,
): CustomValues | Unread {
  const metrics = all.filter(isQueryMetric)
  if (metrics.length === 0) return { metrics, valueOf: () => undefined }
  const problem = customProblem(all)
  if (problem !== undefined) return { isPending: true, says: problem }
  if (!measured)
    return {
      isPending: true,
      says: 'spec.rollout.analysis.metrics needs Prometheus: set prometheus.url in the configuration of the operator, or remove metrics',
    }
  const answers = answersOf(measured, endsAt)
  if (!('values' in answers)) return answers
  return { metrics, valueOf: (metric, version) => answers.values.get(questionId(CUSTOM, version, metric)) }
}

export type Exceeded = Required<Pick<Judgement, 'version' | 'metric' | 'value' | 'threshold'>>

/** The first limit that a version does not keep. A value at its limit passes. */
export function exceededBy(
  { metrics, valueOf }: CustomValues,
  candidates: readonly string[],
  stable: readonly string[],
): Exceeded | undefined {
  for (const { name: metric, max, min, maxRatio } of metrics) {
    const reference = largest(stable.map((name) => valueOf(metric, name)))
    const relative =
      maxRatio === undefined || reference === undefined ? undefined : (reference * millionths(maxRatio)) / 1_000_000
    for (const version of candidates) {
      const value = valueOf(metric, version)
      if (value === undefined) continue
      const above = [max === undefined ? undefined : Number(max), relative].find(
        (limit) => limit !== undefined && value > limit,
      )
      const below = min !== undefined && value < Number(min) ? Number(min) : undefined
      const threshold = above ?? below
      if (threshold !== undefined) return { version, metric, value, threshold }
    }
  }
  return undefined
}

const largest = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** A metric that is not known of a version. Of the stable versions only while they get traffic, and if a limit is relative. */
export function unknownMetric(
  { metrics, valueOf }: CustomValues,
  candidates: readonly string[],
  stable: readonly string[],
): Pick<Judgement, 'lacking' | 'missing'> | undefined {
  for (const { name, maxRatio } of metrics) {
    const unknown = candidates.filter((version) => valueOf(name, version) === undefined)
    if (unknown.length > 0) return { lacking: unknown.join(', '), missing: name }
    const isUncompared =
      maxRatio !== undefined && stable.length > 0 && stable.every((version) => valueOf(name, version) === undefined)
    if (isUncompared) return { lacking: stable.join(', '), missing: name }
  }
  return undefined
}
