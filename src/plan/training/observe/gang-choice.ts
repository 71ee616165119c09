/**
 * Which gang scheduler an attempt has. The choice is recorded in the status. While a pod of the attempt has started, it stays:
 * its pods cannot move to another scheduler.
 */
import type { Admission } from '../../../api/training-quota.ts'
import type { GangSchedulerName } from '../../../api/training-scheduling.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { apiVersionOf } from '../../../kube/object.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { isElastic } from '../frameworks/elasticity.ts'
import { replicasOf, startsAfterWorkers } from '../frameworks/roles.ts'
import type { GangScheduler } from '../gangs/contract.ts'
import { bestGang, gangNamed, gangOfLabels, missingKind, plainGang } from '../gangs/registry.ts'
import { WORKER } from '../names.ts'
import type { Attempt, Replica } from './attempt.ts'
import { hasStarted, memberOf } from './member.ts'
import type { TrainingObserved } from './observed.ts'

export interface GangChoice {
  readonly scheduler: GangScheduler
  /** Why the scheduler cannot place pods now. */
  readonly trouble?: Trouble
  /** The spec names another one, which is for the next attempt. */
  readonly isDeferred: boolean
}

export function gangChoice(observed: TrainingObserved, attempt: Attempt): GangChoice {
  const wanted = wantedGang(observed)
  const recorded = recordedGang(observed, attempt)
  if (recorded && (hasStartedPod(observed) || (wanted === 'auto' && isServed(recorded, observed))))
    return { scheduler: recorded, isDeferred: wanted !== 'auto' && wanted !== recorded.name }
  return { ...(wanted === 'auto' ? automatic(observed, attempt) : named(wanted, observed)), isDeferred: false }
}

/** A label that names a queue takes precedence: administrators require it by policy. */
function wantedGang({ job }: TrainingObserved): GangSchedulerName | 'auto' {
  return gangOfLabels(job.metadata.labels)?.name ?? job.spec.scheduling?.gang ?? 'auto'
}

/** The queue that the job has with this gang scheduler. */
export function queueOf({ metadata, spec }: TrainingJob, { quota }: GangScheduler): string | undefined {
  return (quota && metadata.labels?.[quota.queueLabel]) ?? spec.scheduling?.queueName
}

/** The quota that is recorded for the attempt. */
export function recordedAdmission({ job }: Pick<TrainingObserved, 'job'>, { number }: Attempt): Admission | undefined {
  const { scheduling } = job.status ?? {}
  return scheduling?.attempt === number ? scheduling.admission : undefined
}

function recordedGang({ job }: TrainingObserved, { number }: Attempt): GangScheduler | undefined {
  const { scheduling } = job.status ?? {}
  return scheduling?.attempt === number ? gangNamed(scheduling.gang) : undefined
}

const hasStartedPod = ({ pods }: TrainingObserved): boolean =>
  pods.some((pod) => hasStarted(memberOf(pod, { role: WORKER, index: 0 })))

const servedKinds = (observed: TrainingObserved): ReadonlySet<string> => observed.servedKinds ?? new Set()

export const isServed = (scheduler: GangScheduler, observed: TrainingObserved): boolean =>
  missingKind(scheduler, servedKinds(observed)) === undefined

function automatic(observed: TrainingObserved, attempt: Attempt): Omit<GangChoice, 'isDeferred'> {
  const { job, config } = observed
  const { schedulerName, queueName } = job.spec.scheduling ?? {}
  const request = {
    pods: replicasOf(job, attempt).length,
    ...(schedulerName !== undefined && { schedulerName }),
    ...(queueName !== undefined && { queueName }),
  }
  const best = bestGang(request, servedKinds(observed), config.gangSchedulerNames)
  if (best) return { scheduler: best }
  const message = `scheduling.queueName is ${queueName}, and the cluster serves no gang scheduler with queues: install one, or remove queueName`
  return { scheduler: plainGang, trouble: { reason: GANG_UNAVAILABLE, message } }
}

function named(name: GangSchedulerName, observed: TrainingObserved): Omit<GangChoice, 'isDeferred'> {
  const scheduler = gangNamed(name)
  const { quota } = scheduler
  const label = quota && observed.job.metadata.labels?.[quota.queueLabel] !== undefined ? quota.queueLabel : undefined
  const missing = missingKind(scheduler, servedKinds(observed))
  if (missing) {
    const kind = `${missing.kind} of ${apiVersionOf(missing)}`
    const [cause, fix] = label
      ? [`the job has the label ${label}`, 'remove the label']
      : [`scheduling.gang is ${name}`, 'set scheduling.gang to auto or none']
    const message = `${cause}, and the cluster does not serve the kind ${kind}: install it, or ${fix}`
    return { scheduler, trouble: { reason: GANG_UNAVAILABLE, message } }
  }
  if (!quota || queueOf(observed.job, scheduler)) return { scheduler }
  const message = `scheduling.gang is ${name}, and the job names no queue: set scheduling.queueName or the label ${quota.queueLabel}`
  return { scheduler, trouble: { reason: 'QueueNameMissing', message } }
}

export const GANG_UNAVAILABLE = 'GangSchedulerUnavailable'

/** The replicas without which the job cannot train. Those that are created later wait for nobody. */
export function neededReplicas({ job }: Pick<TrainingObserved, 'job'>, attempt: Attempt): readonly Replica[] {
  const { spec } = job
  const first = isElastic(spec) ? Math.min(spec.elastic?.minWorkers ?? attempt.worldSize, attempt.worldSize) : Infinity
  return replicasOf(job, attempt).filter(
    ({ role, index }) => !startsAfterWorkers(spec, role) && (role !== WORKER || index < first),
  )
}
