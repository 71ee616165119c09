/** The end of a job: completed, or failed. The end is final; only clean-up and the deletion after the TTL follow. */
import { getCondition } from '../../../api/conditions.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { toDelete } from '../../../decision/plan.ts'
import { type Changes, NO_CHANGES } from '../engines/contract.ts'
import { decidingRole } from '../frameworks/roles.ts'
import { WORKER } from '../names.ts'
import { isActive, isOutlived, type Member } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinished } from '../observe/state.ts'
import { type JobSummary, withVerdict } from '../report/conditions.ts'
import { trainingCompleted, trainingFailed } from '../report/events.ts'
import { finalCounts, hasEnded } from '../report/final-counts.ts'
import { type PlannedStatus, readyPods, resourcesHeld, type StatusUpdate } from '../report/status.ts'
import { portion } from '../report/wording.ts'
import { untilDeadline } from './deadline.ts'
import { awaitsDeployment, deployOutput, MODEL_DEPLOYED } from './deployment.ts'
import { makePlan, makePlanWithStatus, type Step, type TrainingPlan, withCheckpointPod } from './step.ts'
import { untilExpired } from './ttl.ts'

/**
 * After the end, the status changes only in the remaining workers, the resources they hold, the generation, and what happens
 * to the model.
 */
export const stayFinished: Step = (snapshot) => {
  const { job, observed, all, attempt } = snapshot
  if (!isFinished(job)) return undefined
  const counts = finalCounts(snapshot)
  const { conditions = [], ...known } = job.status ?? {}
  const model = deployOutput(job, observed.model)
  const status: PlannedStatus = {
    ...known,
    ...(model.output && { output: model.output }),
    conditions: withVerdict(conditions, model.verdict),
    ...counts,
    ready: readyPods(job, attempt, counts),
    resources: { ...known.resources, ...resourcesHeld(job, all) },
    ...(job.metadata.generation !== undefined && { observedGeneration: job.metadata.generation }),
  }
  const left = untilExpired(job, observed.now)
  const isExpired = left !== undefined && left <= 0 && !isDeploying(job, status)
  const { writes, deletions } = withCheckpointPod(snapshot, cleanUp(snapshot))
  return makePlanWithStatus(snapshot, status, {
    writes: [...writes, ...model.writes],
    events: model.events,
    deletions: isExpired ? [...deletions, ...toDelete('owner', [job])] : deletions,
    ...(left !== undefined && left > 0 && { requeueAfterMs: left }),
  })
}

/** A job that expires is kept until its model is deployed, unless a person has to act first. */
function isDeploying(job: TrainingJob, { output }: PlannedStatus): boolean {
  const isBlocked = getCondition(job.status?.conditions, MODEL_DEPLOYED)?.status === 'False'
  return awaitsDeployment(job) && output?.deploying !== undefined && !isBlocked
}

/** A leader that was replaced can create pods of an earlier attempt late. They are removed whatever the policy says. */
function cleanUp({ job, engine, observed, all, stale }: Snapshot): Changes {
  const { cleanPodPolicy } = job.spec
  if (stale.length > 0) return engine.remove(observed, stale)
  if (cleanPodPolicy === 'None') return NO_CHANGES
  return cleanPodPolicy === 'All' ? engine.remove(observed, all) : engine.stop(observed, all.filter(isStillActive(job)))
}

/** The pod cache may be older than the status. A worker that the status records as ended has ended; its sidecars may run. */
function isStillActive({ status }: TrainingJob): (member: Member) => boolean {
  const ended = new Set(status?.workerStatuses?.filter(hasEnded).map(({ podName }) => podName))
  return (member) => isOutlived(member) || (isActive(member) && !ended.has(member.podName))
}

/** The role that decides has succeeded: all workers, unless the framework says otherwise. */
export const complete: Step = (snapshot) => {
  const { job, gang, replicas } = snapshot
  const deciding = decidingRole(job.spec)
  const done = gang.filter(({ role, phase }) => role === deciding && phase === 'Succeeded')
  const needed = replicas.filter(({ role }) => role === deciding)
  if (needed.length === 0 || done.length < needed.length) return undefined
  const who = deciding === WORKER ? portion(done.length, needed.length, 'worker') : `the ${deciding}`
  const message = `Training completed: ${who} succeeded`
  return makePlan(
    snapshot,
    finalUpdate(snapshot, { state: 'Completed', reason: 'TrainingCompleted', message, isReady: false }),
    {
      events: [trainingCompleted(message)],
    },
  )
}

/** No pod is being replaced any more, and no attempt follows. */
function finalUpdate({ attempt, gang }: Snapshot, summary: JobSummary): StatusUpdate {
  return { attempt, members: gang, ...summary }
}

export const failAtDeadline: Step = (snapshot) => {
  const left = untilDeadline(snapshot.job, snapshot.observed.now)
  if (left === undefined || left > 0) return undefined
  const limit = `activeDeadlineSeconds (${snapshot.job.spec.activeDeadlineSeconds} s)`
  return failed(snapshot, 'DeadlineExceeded', `The job did not complete within ${limit}; raise it or train less`)
}

export function failed(snapshot: Snapshot, reason: string, message: string, more: object = {}): TrainingPlan {
  return makePlan(
    snapshot,
    { ...finalUpdate(snapshot, { state: 'Failed', reason, message, isReady: false }), ...more },
    { events: [trainingFailed(reason, message)] },
  )
}
