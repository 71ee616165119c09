/**
 * Suspend and resume. Once started, a suspension is completed even if the spec changes back meanwhile: a gang with some of
 * its pods deleted cannot train. Neither counts against backoffLimit.
 */
import type { Snapshot } from '../observe/snapshot.ts'
import { resumed, suspended } from '../report/events.ts'
import type { StatusUpdate } from '../report/status.ts'
import { quantify } from '../report/wording.ts'
import { keepRecorded, makePlan, nextAttempt, type Step, type TrainingPlan, withCheckpointPod } from './step.ts'

export const suspend: Step = (snapshot) => {
  if (!snapshot.job.spec.suspend) return undefined
  return makePlan(snapshot, keepRecorded(snapshot, SUSPENDING))
}

/** Nothing else happens to a job that is suspending or suspended. */
export const staySuspended: Step = (snapshot) => {
  const { state } = snapshot.job.status ?? {}
  if (state === 'Suspending') return removePods(snapshot)
  if (state !== 'Suspended') return undefined
  return snapshot.job.spec.suspend ? makePlan(snapshot, suspendedUpdate(snapshot)) : resume(snapshot)
}

function removePods(snapshot: Snapshot): TrainingPlan {
  const { engine, observed, all } = snapshot
  const removal = withCheckpointPod(snapshot, engine.remove(observed, all))
  if (engine.hasPods(observed) || snapshot.checkpointing)
    return makePlan(snapshot, keepRecorded(snapshot, SUSPENDING), removal)
  return makePlan(snapshot, suspendedUpdate(snapshot), { events: [suspended()] })
}

function suspendedUpdate({ attempt }: Snapshot): StatusUpdate {
  const message = 'All workers are stopped; set spec.suspend to false to resume'
  return { state: 'Suspended', reason: 'Suspended', message, isReady: false, attempt, members: [] }
}

function resume(snapshot: Snapshot): TrainingPlan {
  const next = nextAttempt(snapshot)
  const { number, worldSize } = next.attempt
  const message = `Creating ${quantify(worldSize, 'worker')}`
  const update: StatusUpdate = { state: 'Initializing', reason: 'Resumed', message, isReady: false, ...next }
  return makePlan(snapshot, update, { events: [resumed(worldSize, number)] })
}

const SUSPENDING = {
  state: 'Suspending',
  reason: 'Suspending',
  message: 'Stopping all workers',
  isReady: false,
} as const
