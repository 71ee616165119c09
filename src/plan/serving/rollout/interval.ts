/** The record of an interval of an analysis. */
import { compact } from '../../../api/json.ts'
import type { AnalysisStatus, RolloutStatus } from '../../../api/rollout-status.ts'
import type { Analysis } from '../../../api/serving-rollout.ts'
import { millis } from '../../time.ts'

/** What is known of the stable versions. */
export type Reference = Pick<AnalysisStatus, 'stableErrorRate' | 'stableLatencyMs'>

export const referenceIn = ({ stableErrorRate, stableLatencyMs }: Reference): Reference =>
  compact({ stableErrorRate, stableLatencyMs })

/** For the next step, where the stable versions may get no more traffic. */
export const onlyReference = (analysis: AnalysisStatus): AnalysisStatus => ({
  since: analysis.since,
  counters: [],
  ...referenceIn(analysis),
})

/** Without an open interval. */
export const closed = ({ source: _source, ...analysis }: AnalysisStatus): AnalysisStatus => ({
  ...analysis,
  counters: [],
})

/** It goes on, because there were too few requests. */
export const inconclusive = (analysis: AnalysisStatus): AnalysisStatus => {
  const { since, source, counters, failures } = analysis
  return compact({ since, source, counters, failures, result: 'Inconclusive' as const, ...referenceIn(analysis) })
}

/** It is open, and Prometheus has its figures. */
export const isMeasured = ({ source }: AnalysisStatus): boolean => source === 'Prometheus'

/** When an interval ends, in milliseconds of the epoch. The last one ends with the watch, however short it is. */
export function endOf(state: RolloutStatus, { intervalSeconds, watchSeconds }: Analysis): number {
  const { step = 1, steps = 1, inEffectSince, analysis } = state
  const began = millis(inEffectSince)
  const isWatched = step >= steps && began !== undefined && watchSeconds > 0
  return Math.min(
    (millis(analysis?.since) ?? 0) + intervalSeconds * 1000,
    isWatched ? began + watchSeconds * 1000 : Infinity,
  )
}
