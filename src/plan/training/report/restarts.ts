/**
 * Restarts, as users read the column of `kubectl get`: how often training that had started was ended and started again.
 * They are recorded together with the attempt that they lead to. Attempts that replace pods of which none has started, and
 * those after a suspension, are no restarts.
 */
import type { TrainingJobStatus } from '../../../api/training-status.ts'
import type { Attempt } from '../observe/attempt.ts'
import { hasStarted } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'

type Recorded = Pick<TrainingJobStatus, 'restarts' | 'addedWorkers'>

/** After the end of this attempt, which is followed by another one at once. */
export function restartsAfter(snapshot: Snapshot): number {
  return (snapshot.job.status?.restarts ?? 0) + (hasRun(snapshot) ? 1 : 0)
}

/** A pod of the attempt has started: now, or when the status was last written. */
export function hasRun({ job, gang }: Snapshot): boolean {
  const { workers = {}, roles = [] } = job.status ?? {}
  const wasStarted = [workers, ...roles].some(
    ({ active = 0, succeeded = 0, failed = 0 }) => active + succeeded + failed > 0,
  )
  return wasStarted || gang.some(hasStarted)
}

/** A worker that a change of size has added took part only in the restarts since then. */
export function restartsOf({ restarts = 0, addedWorkers = [] }: Recorded, rank: number): number {
  return restarts - (addedWorkers.findLast(({ firstRank }) => firstRank <= rank)?.restarts ?? 0)
}

/** `restarts`: when the size changes. Ranks that the new size does not have are forgotten. */
export function addedWorkersAfter(
  { status = {} }: Snapshot['job'],
  { worldSize }: Attempt,
  restarts: number,
): NonNullable<Recorded['addedWorkers']> {
  const { addedWorkers = [], worldSize: before = worldSize } = status
  const kept = addedWorkers.filter(({ firstRank }) => firstRank < worldSize)
  const isGrown = before > 0 && before < worldSize
  return isGrown && restarts > 0 ? [...kept, { firstRank: before, restarts }] : kept
}
