/**
 * Quota of a queue. A grant is recorded with the attempt before its first pod is created. When the quota is taken back, the
 * next attempt is recorded first; the passes that follow stop the pods, which get their grace period for a checkpoint, and
 * then give the quota back. Neither counts against backoffLimit.
 */
import { toDelete, toWrite } from '../../../decision/plan.ts'
import { earliest } from '../../requeue.ts'
import { type Cause, referenceKey } from '../gangs/quota.ts'
import { gangOfGroup } from '../gangs/registry.ts'
import { gangChoice, queueOf } from '../observe/gang-choice.ts'
import { podsOf } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { grantedWorkers, quotaReferences, type Standing, standingOf } from '../observe/quota.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { jobQueued, quotaGranted, quotaWithdrawn } from '../report/events.ts'
import { allOf, quantify } from '../report/wording.ts'
import { timeLeft } from './run.ts'
import { type Actions, keepRecorded, makePlan, nextAttempt, type Step, type TrainingPlan } from './step.ts'

const RETRY_MS = 30_000

/** Pods exist, and the quota that they were created for is gone. */
export const vacate: Step = (snapshot) => {
  const { observed, attempt, gang } = snapshot
  const standing = standingOf(observed, attempt)
  if (!standing || standing.state === 'held') return undefined
  if (standing.state !== 'lost' && podsOf(gang).length === 0) return undefined
  const { reason, message } = 'reason' in standing ? standing : NOT_GRANTED
  const next = nextAttempt(snapshot)
  const stopped = podsOf(gang).length > 0 ? `stopping ${allOf(attempt.worldSize, 'worker')}; ` : ''
  const text =
    `${reason}: ${message}; ${stopped}the job waits in its queue and continues from its newest checkpoint ` +
    `(attempt ${next.attempt.number}, not counted against backoffLimit)`
  return makePlan(
    snapshot,
    { state: 'Pending', reason: 'QuotaWithdrawn', message: text, isReady: false, ...next },
    { events: [quotaWithdrawn(text)] },
  )
}

const NOT_GRANTED: Cause = { reason: 'NotGranted', message: 'the pods have no quota' }

/** No pod of the attempt is created before its quota is recorded. Pods of earlier attempts are gone here. */
export const awaitQuota: Step = (snapshot) => {
  const { observed, attempt, checkpointing } = snapshot
  const standing = standingOf(observed, attempt)
  if (!standing || standing.state === 'held') return undefined
  if (standing.state === 'granted') return record(snapshot, standing)
  if (checkpointing) return wait(snapshot, {}, { deletions: toDelete('graceful', podsOf([checkpointing])) })
  if (standing.state === 'absent') return request(snapshot, standing)
  if (standing.state === 'unusable') return wait(snapshot, {}, { deletions: toDelete('graceful', [standing.group]) })
  if (standing.state === 'withdrawn') return release(snapshot, standing)
  return wait(snapshot, standing)
}

function record(snapshot: Snapshot, { admission }: Standing & { readonly state: 'granted' }): TrainingPlan {
  const { attempt, job } = snapshot
  const worldSize = grantedWorkers(admission)
  const { clusterQueue, requestedWorkers } = admission
  const part = worldSize < requestedWorkers ? ` of ${requestedWorkers}` : ''
  const message = `ClusterQueue ${clusterQueue} granted quota for ${quantify(worldSize, 'worker')}${part} (attempt ${attempt.number})`
  const hasRun = job.status?.state === 'Running' || job.status?.state === 'Restarting'
  const summary = { reason: 'QuotaGranted', message, isReady: false } as const
  return makePlan(
    snapshot,
    {
      ...keepRecorded(snapshot, { state: hasRun ? 'Restarting' : 'Initializing', ...summary }),
      attempt: { ...attempt, worldSize },
      admission,
    },
    { events: [quotaGranted(message)] },
  )
}

function request(snapshot: Snapshot, { group, missing }: Standing & { readonly state: 'absent' }): TrainingPlan {
  if (!missing) return wait(snapshot, {}, { writes: toWrite('create', [group]) })
  const { resource, name } = missing
  const message = `${resource.kind} ${name} does not exist: create it, or name another one in the job`
  return wait(snapshot, { reason: 'PriorityClassNotFound', message })
}

function release(snapshot: Snapshot, { group, ...cause }: Standing & { readonly state: 'withdrawn' }): TrainingPlan {
  const status = gangOfGroup(group)?.quota?.released(group) ?? {}
  return wait(snapshot, cause, { writes: [{ how: 'report', object: group, status }] })
}

/** `cause`: what the queue says, if it has said anything. */
function wait(snapshot: Snapshot, cause: Partial<Cause>, actions: Actions = {}): TrainingPlan {
  const { job, observed, attempt } = snapshot
  const { reason = 'Pending', message = 'the queue has not considered the job yet' } = cause
  const queue = queueOf(job, gangChoice(observed, attempt).scheduler) ?? ''
  const text = `Waiting in queue ${queue}: ${message}`
  const isNew = !job.status?.reason?.startsWith(`${WAITING}:`)
  const summary = { state: 'Pending', reason: WAITING, message: text, isReady: false } as const
  return makePlan(
    snapshot,
    { ...keepRecorded(snapshot, summary), pending: { reason, message: message.slice(0, MAX_MESSAGE) } },
    {
      ...actions,
      events: isNew ? [jobQueued(text)] : [],
      requeueAfterMs: earliest(isReferenceMissing(observed) ? RETRY_MS : undefined, timeLeft(snapshot)),
    },
  )
}

const WAITING = 'WaitingForQuota'
const MAX_MESSAGE = 4096

/** Objects that are only read by name have no watch. */
const isReferenceMissing = (observed: TrainingObserved): boolean =>
  quotaReferences(observed).some((one) => !observed.found?.has(referenceKey(one)))
