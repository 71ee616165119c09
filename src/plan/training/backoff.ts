/** How long to wait before the gang is started again. */
import type { TrainingJobStatus } from '../../api/training-status.ts'
import type { TrainingConfig } from './config.ts'
import { millis } from '../time.ts'

/** After the nth failure that counts: twice as long each time, up to a limit. */
export function pauseAfter(failures: number, { backoffMs, backoffLimitMs }: TrainingConfig): number {
  return Math.min(backoffMs * 2 ** Math.max(0, failures - 1), backoffLimitMs)
}

/** Somebody else's fault is repaired at once, unless it happens again and again. */
export function pauseAfterDisruption(
  status: TrainingJobStatus | undefined,
  now: number,
  { backoffMs }: TrainingConfig,
): number {
  const last = millis(status?.lastFailure?.time)
  return last !== undefined && now - last < RECENTLY_MS ? backoffMs : 0
}

const RECENTLY_MS = 60_000
