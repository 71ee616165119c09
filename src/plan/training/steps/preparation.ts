/**
 * The checkpoints before an attempt that may resume: one pod lists them, and the newest complete one is recorded. The gang starts
 * after the record, when the pod is gone. A failure is retried for as long as the job exists: without knowing the checkpoints the
 * job does not start, because it would train from the beginning.
 */
import { getCondition } from '../../../api/conditions.ts'
import { type Deletion, toDelete, toWrite } from '../../../decision/plan.ts'
import { containerTrouble } from '../../pod-trouble.ts'
import { earliest } from '../../requeue.ts'
import { formatDuration, millis, notBefore } from '../../time.ts'
import { ATTEMPT_LABEL, checkpointPodName, TEMPLATE_ANNOTATION } from '../names.ts'
import { preparationPod } from '../objects/checkpoint-pod.ts'
import { checkpointClaims } from '../objects/claims.ts'
import { resumeSourceOf } from '../objects/resume-source.ts'
import { isOnDeadNode } from '../observe/dead-nodes.ts'
import { isActive, isTerminating, type Member, startingContainers } from '../observe/member.ts'
import { untilRecheck } from '../observe/pending-claims.ts'
import { errorOf, type PreparationResult, recordOf, resultOf } from '../observe/preparation.ts'
import { needsPreparation } from '../observe/resumption.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { claimsNotFound, type Waiting, waitingFor } from '../observe/waiting.ts'
import { SUMMARY_CONDITION } from '../report/conditions.ts'
import { checkpointChosen, checkpointsFailed, waitingProblem } from '../report/events.ts'
import type { StatusUpdate } from '../report/status.ts'
import { pauseAfter } from './backoff.ts'
import { timeLeft } from './run.ts'
import { keepRecorded, makePlan, type Step, type TrainingPlan } from './step.ts'

export const prepare: Step = (snapshot) => {
  const { job, attempt, gang, checkpointing } = snapshot
  // Pods that exist have been created after the record, or by an operator that did not prepare.
  const isNeeded = gang.length === 0 && needsPreparation(job, attempt)
  if (!checkpointing) return isNeeded ? start(snapshot) : undefined
  if (!isNeeded || isOutdated(snapshot, checkpointing)) return remove(snapshot, checkpointing)
  return observe(snapshot, checkpointing)
}

/** The pod is of another attempt, or of another spec. */
function isOutdated({ observed, attempt }: Snapshot, { pod }: Member): boolean {
  const { labels, annotations } = pod?.metadata ?? {}
  const wanted = preparationPod(observed, attempt).metadata.annotations?.[TEMPLATE_ANNOTATION]
  return labels?.[ATTEMPT_LABEL] !== String(attempt.number) || annotations?.[TEMPLATE_ANNOTATION] !== wanted
}

function start(snapshot: Snapshot): TrainingPlan {
  const { job, observed, attempt } = snapshot
  const isRetry = (job.status?.checkpoint?.failures ?? 0) > 0
  const left = isRetry ? (millis(job.status?.restartTime) ?? 0) - observed.now : 0
  if (left > 0) return wait(snapshot, {}, left)
  const missing = missingClaims(snapshot)
  if (missing) return report(snapshot, missing)
  return makePlan(snapshot, updateOf(snapshot), {
    writes: [
      ...toWrite('createUnowned', checkpointClaims(job, observed.config)),
      ...toWrite('apply', [preparationPod(observed, attempt)]),
    ],
    requeueAfterMs: timeLeft(snapshot),
  })
}

function observe(snapshot: Snapshot, member: Member): TrainingPlan {
  const result = member.phase === 'Succeeded' ? resultOf(member) : undefined
  if (result) return record(snapshot, result)
  if (isTerminating(member)) return wait(snapshot)
  if (isOnDeadNode(snapshot.observed, member)) return remove(snapshot, member)
  if (isActive(member)) return report(snapshot, waitingOf(snapshot, member))
  const isRecorded = snapshot.job.status?.failedPods?.includes(member.pod?.metadata.uid ?? '')
  return isRecorded ? remove(snapshot, member) : recordFailure(snapshot, member)
}

/** Whether the job starts from a checkpoint or not, it is said once. */
function record(snapshot: Snapshot, result: PreparationResult): TrainingPlan {
  const { job, attempt } = snapshot
  const checkpoint = recordOf(job, attempt, result)
  const isRecovered = (job.status?.checkpoint?.failures ?? 0) > 0
  const message = `The checkpoints are listed; attempt ${attempt.number} starts next`
  return makePlan(
    snapshot,
    {
      ...updateOf(snapshot),
      ...(isRecovered && { reason: 'CheckpointsListed', message }),
      checkpoint,
    },
    {
      events: [checkpointChosen(checkpoint.resumedFrom, attempt.number, result.pruned)],
      requeueAfterMs: timeLeft(snapshot),
    },
  )
}

function recordFailure(snapshot: Snapshot, member: Member): TrainingPlan {
  const { job, observed } = snapshot
  const { checkpoint, failedPods = [] } = job.status ?? {}
  const failures = (checkpoint?.failures ?? 0) + 1
  const pause = pauseAfter(failures, observed.config)
  const message =
    `Pod ${member.podName} could not list the checkpoints: ${errorOf(member)}; retrying in ${formatDuration(pause)} ` +
    `(failure ${failures}). The job waits, because it would start from the beginning; to allow that, set checkpoint.enabled to false`
  return makePlan(
    snapshot,
    {
      ...updateOf(snapshot),
      reason: 'CheckpointsFailed',
      message,
      failedPods: [...failedPods, ...(member.pod?.metadata.uid === undefined ? [] : [member.pod.metadata.uid])],
      restartTime: notBefore(Math.max(observed.now + pause, millis(job.status?.restartTime) ?? 0)),
      checkpoint: { ...checkpoint, failures },
    },
    { events: [checkpointsFailed(message)], requeueAfterMs: earliest(pause, timeLeft(snapshot)) },
  )
}

const remove = (snapshot: Snapshot, { pod }: Member): TrainingPlan =>
  wait(snapshot, { deletions: toDelete('graceful', pod ? [pod] : []) })

function wait(
  snapshot: Snapshot,
  changes: { readonly deletions?: readonly Deletion[] } = {},
  left?: number,
): TrainingPlan {
  const requeueAfterMs = earliest(left, timeLeft(snapshot))
  return makePlan(snapshot, updateOf(snapshot), { ...changes, requeueAfterMs })
}

/** A problem is in the status, and as an event when it is new. While all is well, the reason for the attempt stays. */
function report(snapshot: Snapshot, { reason, message, isProblem }: Waiting): TrainingPlan {
  const { job, observed } = snapshot
  if (!isProblem) return wait(snapshot, {}, untilRecheck(observed))
  const isNew = !job.status?.reason?.startsWith(`${reason}:`)
  return makePlan(
    snapshot,
    { ...updateOf(snapshot), reason, message },
    {
      events: isNew ? [waitingProblem(reason, message)] : [],
      requeueAfterMs: earliest(timeLeft(snapshot), untilRecheck(observed)),
    },
  )
}

function missingClaims({ job, observed }: Snapshot): Waiting | undefined {
  const there = new Set(observed.claims.map(({ metadata }) => metadata.name))
  const created = new Set(checkpointClaims(job, observed.config).map(({ metadata }) => metadata.name))
  const needed = [resumeSourceOf(job, observed.resumedJob)?.claim, job.spec.checkpoint.storage.claimName]
  const missing = needed.filter((name) => name !== undefined).filter((name) => !there.has(name) && !created.has(name))
  if (missing.length === 0) return undefined
  return claimsNotFound(missing, 'checkpoint.resumeFrom or checkpoint.storage.claimName')
}

function waitingOf({ observed }: Snapshot, member: Member): Waiting {
  for (const { state } of startingContainers(member)) {
    const trouble = containerTrouble(member.podName, state?.waiting, ['training.agentImage of the operator'])
    if (trouble) return { ...trouble, isProblem: true, isUnschedulable: false }
  }
  return waitingFor({ ...observed, pods: member.pod ? [member.pod] : [] }, [member])
}

/** The recorded reason for the attempt; a job that has not run yet gets one. */
function updateOf(snapshot: Snapshot): StatusUpdate {
  const { status } = snapshot.job
  const recorded = getCondition(status?.conditions, SUMMARY_CONDITION)
  const hasRun = status?.state === 'Running' || status?.state === 'Restarting'
  const { reason = 'PreparingCheckpoints', message = `Pod ${checkpointPodName(snapshot.job)} lists the checkpoints` } =
    recorded ?? {}
  return keepRecorded(snapshot, { state: hasRun ? 'Restarting' : 'Initializing', reason, message, isReady: false })
}
