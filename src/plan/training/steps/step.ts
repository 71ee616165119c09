/** A step of the lifecycle: returns a plan, or undefined if it does not apply. */
import { type EventNote, type Plan, toDelete } from '../../../decision/plan.ts'
import { earliest } from '../../requeue.ts'
import type { Changes } from '../engines/contract.ts'
import type { Attempt } from '../observe/attempt.ts'
import { forceDeletions } from '../observe/dead-nodes.ts'
import { type Member, podsOf } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { type PlannedStatus, statusOf, type StatusUpdate } from '../report/status.ts'

export type TrainingPlan = Plan<PlannedStatus>
export type Step = (snapshot: Snapshot) => TrainingPlan | undefined

export interface Actions extends Partial<Changes> {
  readonly events?: readonly EventNote[]
  readonly requeueAfterMs?: number | undefined
}

export function makePlan(snapshot: Snapshot, update: StatusUpdate, actions: Actions = {}): TrainingPlan {
  return makePlanWithStatus(snapshot, statusOf(snapshot.observed, snapshot.all, update), actions)
}

/** In every state, pods that are stuck on a dead node are deleted by force. */
export function makePlanWithStatus(snapshot: Snapshot, status: PlannedStatus, actions: Actions): TrainingPlan {
  const { writes = [], deletions = [], events = [], requeueAfterMs } = actions
  const { force, ...later } = forceDeletions(snapshot.observed, snapshot.all)
  const again = earliest(requeueAfterMs, later.requeueAfterMs)
  return {
    writes,
    deletions: [...deletions, ...toDelete('force', podsOf(force))],
    status,
    events,
    ...(again !== undefined && { requeueAfterMs: again }),
  }
}

/** The next attempt, with the number of workers that the spec has now. It has no members yet. */
export function nextAttempt({ attempt, job }: Snapshot): {
  readonly attempt: Attempt
  readonly members: readonly Member[]
} {
  return { attempt: { number: attempt.number + 1, worldSize: job.spec.numWorkers }, members: [] }
}

/** Continues the attempt: keeps what the status has recorded about replacements and the backoff. */
export function keepRecorded(
  { job, attempt, gang }: Snapshot,
  summary: Omit<StatusUpdate, 'attempt' | 'members'>,
): StatusUpdate {
  const { failedPods, restartTime } = job.status ?? {}
  return {
    attempt,
    members: gang,
    ...(failedPods && { failedPods }),
    ...(restartTime !== undefined && { restartTime }),
    ...summary,
  }
}
