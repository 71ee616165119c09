/**
 * Where the figures of an analysis come from: one contract, one file per source.
 *
 * Contract
 * - An interval begins with what `opening` returns, which is recorded. Undefined: nothing counts now, so no interval begins.
 * - `readings` has the figures of the interval from its start until now. Without figures, no decision follows.
 * - A figure that the source does not have is absent. A version that it does not know had no requests.
 */
import type { AnalysisCounter, AnalysisStatus } from '../../../api/rollout-status.ts'
import type { ServingObserved } from '../observe/observed.ts'
import type { Figures } from './figures.ts'

export interface RecordedInterval {
  readonly sinceMs: number
  /** Its end. Figures from before do not cover it. */
  readonly endsAt: number
  readonly counters: readonly AnalysisCounter[]
}

export interface Unread {
  /** They will come: the step and the watch wait for them. */
  readonly isPending?: true
  /** What is waited for, as a sentence. */
  readonly says?: string
}

export type Readings = { readonly figures: ReadonlyMap<string, Figures> } | Unread

export interface AnalysisSource {
  readonly name: NonNullable<AnalysisStatus['source']>
  opening(observed: ServingObserved): readonly AnalysisCounter[] | undefined
  readings(observed: ServingObserved, interval: RecordedInterval): Readings
}
