/** `ttlSecondsAfterFinished`: how long a job is kept after its end. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { millis } from '../../time.ts'

/** Milliseconds until a finished job expires; undefined if it does not. */
export function untilExpired({ spec, status }: TrainingJob, now: number): number | undefined {
  const ended = millis(status?.completionTime)
  const { ttlSecondsAfterFinished } = spec
  if (ttlSecondsAfterFinished === undefined || ended === undefined) return undefined
  return ended + ttlSecondsAfterFinished * 1000 - now
}
