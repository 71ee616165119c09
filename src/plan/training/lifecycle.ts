/**
 * The lifecycle of an accepted TrainingJob: what to write, given what is observed. Pure.
 *
 *     Pending → Initializing → Running → Completed | Failed
 *                    ↑ ↓          ↓ ↑
 *       Suspended ← Suspending   Restarting
 *
 * Each step either returns a plan or leaves the job to the next one. The order matters: a finished job stays finished;
 * success precedes everything that could undo it; a failure is recorded before anything else happens to the gang; pods
 * are created only when nothing else is left to do.
 */
import { getCondition } from '../../api/conditions.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Trouble } from '../pod-trouble.ts'
import { CONFLICT, recordRejection } from '../rejection.ts'
import type { TrainingObserved } from './observe/observed.ts'
import { snapshotOf } from './observe/snapshot.ts'
import { isFinished } from './observe/state.ts'
import { SUMMARY_CONDITION, withVerdict } from './report/conditions.ts'
import { awaitsDeployment, blocked } from './steps/deployment.ts'
import { prepare } from './steps/preparation.ts'
import { complete, failAtDeadline, stayFinished } from './steps/finish.ts'
import { giveUpHistory, keepHistory } from './steps/history.ts'
import { awaitQuota, vacate } from './steps/quota.ts'
import { releaseNodes } from './steps/release.ts'
import { resize } from './steps/resize.ts'
import { restart } from './steps/restart.ts'
import { revise } from './steps/revision.ts'
import { isPartial, rollBack } from './steps/rollback.ts'
import { backOff, removeStale, run } from './steps/run.ts'
import { awaitScheduler } from './steps/scheduler.ts'
import { endStall } from './steps/stall.ts'
import { waitToStart } from './steps/start.ts'
import { keepRecorded, makePlan, type Step, type TrainingPlan } from './steps/step.ts'
import { staySuspended, suspend } from './steps/suspension.ts'

const steps: readonly Step[] = [
  keepHistory,
  stayFinished,
  waitToStart,
  staySuspended,
  complete,
  failAtDeadline,
  restart,
  suspend,
  vacate,
  resize,
  revise,
  endStall,
  releaseNodes,
  removeStale,
  awaitScheduler,
  awaitQuota,
  prepare,
  backOff,
]

export function planTraining(observed: TrainingObserved): TrainingPlan {
  const snapshot = snapshotOf(observed)
  for (const step of steps) {
    const plan = step(snapshot)
    if (plan) return plan
  }
  return run(snapshot)
}

/**
 * The plan after a write that cannot succeed until a person acts, such as one above a quota or one to a taken name. It
 * records the reason, creates and deletes nothing, and leaves retrying to the caller. Except after a name conflict, a gang
 * that exists only in part is rolled back: the next attempt is recorded, and the passes that follow delete its pods. The
 * result of a finished job stays recorded: a rejected clean-up is an event only, unless a model waits for its deployment.
 */
export function planRejection(observed: TrainingObserved, trouble: Trouble): TrainingPlan {
  const snapshot = snapshotOf(observed)
  if (isFinished(snapshot.job)) return giveUpHistory(snapshot, trouble) ?? rejectionAfterEnd(snapshot.job, trouble)
  const { state = 'Pending', conditions } = snapshot.job.status ?? {}
  const { rejection, events } = recordRejection(getCondition(conditions, SUMMARY_CONDITION), trouble)
  const update = keepRecorded(snapshot, { state, ...rejection, isReady: false })
  const isRolledBack = trouble.reason !== CONFLICT && isPartial(snapshot)
  return makePlan(snapshot, isRolledBack ? { ...update, ...rollBack(snapshot) } : update, { events })
}

function rejectionAfterEnd(job: TrainingJob, trouble: Trouble): TrainingPlan {
  const plan = { writes: [], deletions: [] }
  if (!awaitsDeployment(job)) return { ...plan, events: recordRejection(undefined, trouble).events }
  const { verdict, events } = blocked(job, trouble)
  const { conditions = [], ...known } = job.status ?? {}
  return { ...plan, status: { ...known, conditions: withVerdict(conditions, verdict) }, events }
}
