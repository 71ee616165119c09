/** How long to wait before a restart. */
import type { TrainingJobStatus } from '../../../api/training-status.ts'
import { millis } from '../../time.ts'
import type { TrainingConfig } from '../config.ts'

/** After the nth counted failure: doubled each time, up to the limit. */
export function pauseAfter(failures: number, { backoffMs, backoffLimitMs }: TrainingConfig): number {
  return Math.min(backoffMs * 2 ** Math.max(0, failures - 1), backoffLimitMs)
}

/** After a disruption: none, unless there was another failure shortly before. */
export function pauseAfterDisruption(
  status: TrainingJobStatus | undefined,
  now: number,
  { backoffMs }: TrainingConfig,
): number {
  const last = millis(status?.lastFailure?.time)
  return last !== undefined && now - last < RECENTLY_MS ? backoffMs : 0
}

const RECENTLY_MS = 60_000
