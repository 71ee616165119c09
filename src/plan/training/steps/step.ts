/** A step of the lifecycle: returns a plan, or undefined if it does not apply. */
import { type EventNote, type Plan, toDelete } from '../../../decision/plan.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { earliest } from '../../requeue.ts'
import type { Changes } from '../engines/contract.ts'
import { gangOfGroup } from '../gangs/registry.ts'
import type { Attempt } from '../observe/attempt.ts'
import { forceDeletions } from '../observe/dead-nodes.ts'
import { type Member, podsOf } from '../observe/member.ts'
import { podGroupOf } from '../objects/pod-group.ts'
import { isFinal } from '../observe/state.ts'
import { slowestWorker, untilSlow } from '../observe/slow-worker.ts'
import { everyone, type Snapshot } from '../observe/snapshot.ts'
import { attemptHistoryAfter } from '../report/attempt-history.ts'
import { withCost } from '../report/cost.ts'
import { checkpointIn } from '../report/checkpoint.ts'
import { progressIn } from '../report/progress.ts'
import { groupReports } from '../report/group.ts'
import { pendingResize, resizeEvents } from '../report/resize.ts'
import { restartsAfter } from '../report/restarts.ts'
import { schedulingIn } from '../report/scheduling.ts'
import { trackingIn, withTracking } from '../report/tracking.ts'
import { type PlannedStatus, statusOf, type StatusUpdate } from '../report/status.ts'

export type TrainingPlan = Plan<PlannedStatus>
export type Step = (snapshot: Snapshot) => TrainingPlan | undefined

export interface Actions extends Partial<Changes> {
  readonly events?: readonly EventNote[]
  readonly requeueAfterMs?: number | undefined
}

export function makePlan(snapshot: Snapshot, update: StatusUpdate, actions: Actions = {}): TrainingPlan {
  const { observed, all } = snapshot
  const progress = progressIn(snapshot, update.state)
  const checkpoint = checkpointIn(snapshot, update)
  const slow = update.state === 'Running' ? slowestWorker(snapshot) : undefined
  const resize = pendingResize(snapshot, update)
  const attemptHistory = attemptHistoryAfter(snapshot, update)
  const waits = [actions, progress, checkpoint, resize ?? {}].map(({ requeueAfterMs }) => requeueAfterMs)
  const again = earliest(...waits, untilSlow(observed))
  const events = [...(actions.events ?? []), ...checkpoint.events, ...resizeEvents(snapshot, resize)]
  const scheduling = schedulingIn(snapshot, update)
  const input = { observed, all, progress, checkpoint, slow, resize: resize?.status, attemptHistory, scheduling }
  const status = statusOf(input, update)
  return makePlanWithStatus(snapshot, status, { ...actions, events, requeueAfterMs: again })
}

/** PodGroups without a use: all of a job that is over or suspended, and those of other schedulers or sizes when no pod is left. */
function unusedGroups(
  { observed, engine }: Snapshot,
  { state, attempts = 0, worldSize = 0, scheduling }: PlannedStatus,
): KubeObject[] {
  const { groups = [] } = observed
  const isOver = isFinal(state) || state === 'Suspended'
  if (groups.length === 0 || (!isOver && engine.hasPods(observed))) return []
  // After the end, a group with quota stays: it says how the job ended.
  if (isFinal(state)) return groups.filter((group) => !gangOfGroup(group)?.quota)
  if (scheduling?.admission) return groups.filter(({ metadata }) => metadata.uid !== scheduling.admission?.uid)
  const used = isOver ? undefined : podGroupOf(observed, { number: attempts, worldSize })
  return groups.filter(
    ({ apiVersion, metadata }) => metadata.name !== used?.metadata.name || apiVersion !== used.apiVersion,
  )
}

/** In every state, pods that are stuck on a dead node are deleted by force, and the status has the run in MLflow and the cost. */
export function makePlanWithStatus(snapshot: Snapshot, status: PlannedStatus, actions: Actions): TrainingPlan {
  const { writes = [], deletions = [], events = [], requeueAfterMs } = actions
  const { force, ...later } = forceDeletions(snapshot.observed, everyone(snapshot))
  const again = earliest(requeueAfterMs, later.requeueAfterMs)
  const tracking = trackingIn(snapshot.observed, snapshot.gang)
  return {
    writes: [...writes, ...groupReports(snapshot, status)],
    deletions: [
      ...deletions,
      ...toDelete('graceful', unusedGroups(snapshot, status)),
      ...toDelete('force', podsOf(force)),
    ],
    status: withCost(snapshot, withTracking(status, tracking)),
    events: [...events, ...tracking.events],
    ...(again !== undefined && { requeueAfterMs: again }),
  }
}

/** Also deletes the pod that works on the checkpoints. */
export function withCheckpointPod({ checkpointing }: Snapshot, { writes, deletions }: Changes): Changes {
  return { writes, deletions: [...deletions, ...toDelete('graceful', checkpointing ? podsOf([checkpointing]) : [])] }
}

/** The next attempt, with the number of workers that the spec has now. It has no members yet. */
export function nextAttempt({ attempt, job }: Snapshot): {
  readonly attempt: Attempt
  readonly members: readonly Member[]
} {
  return { attempt: { number: attempt.number + 1, worldSize: job.spec.numWorkers }, members: [] }
}

/** The next attempt, which follows at once. It counts as a restart if this one has run. */
export function restartedAttempt(snapshot: Snapshot): Pick<StatusUpdate, 'attempt' | 'members' | 'restarts'> {
  return { ...nextAttempt(snapshot), restarts: restartsAfter(snapshot) }
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
