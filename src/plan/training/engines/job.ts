/**
 * One Indexed Job for all workers, `{name}-job`. The first failed pod fails the Job, which ends the other pods. The Job is
 * deleted only when all its pods have ended, so nothing of an attempt is left when its Job is gone.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { toDelete, toWrite } from '../../../decision/plan.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { field } from '../../pod/variable.ts'
import type { PodIdentity } from '../frameworks/pod-identity.ts'
import {
  ATTEMPT_LABEL,
  JOB_UID_LABEL,
  objectLabels,
  TEMPLATE_ANNOTATION,
  WORKER,
  WORKER_LABEL,
  workloadName,
} from '../names.ts'
import { membershipOf } from '../objects/pod-group.ts'
import { podTemplate, startOf, templateFingerprint } from '../objects/pod-template.ts'
import type { Attempt } from '../observe/attempt.ts'
import { hasActivePod, type Member, memberOf, type MemberPhase } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { type Changes, type Engine, NO_CHANGES } from './contract.ts'

const INDEX = 'batch.kubernetes.io/job-completion-index'

export const job: Engine = {
  hostname,
  members: (observed) => [...podMembers(observed), ...podless(observed)],
  hasPods: (observed) =>
    observed.workload !== undefined || observed.pods.length > 0 || (observed.orphans ?? []).length > 0,
  hasOtherAttempts,
  template: (observed, attempt) => templateFingerprint(identityOf(observed, attempt), observed.config),
  create: (observed, attempt, replicas) =>
    observed.workload || replicas.length === 0 ? [] : [workload(observed, attempt)],
  createdReason: 'JobCreated',
  remove: (observed, members) => (members.length === 0 && !observed.workload ? NO_CHANGES : removeJob(observed)),
  stop: (observed, active) => (active.length > 0 ? suspendJob(observed) : NO_CHANGES),
}

/** Set by the Job controller: the name of the Job and the index of the pod. */
function hostname(trainingJob: TrainingJob, _role: string, index: number): string {
  return `${workloadName(trainingJob)}-${index}`
}

/**
 * Orphans delay the creation of a Job. Once the Job of the attempt exists, they are ignored: a stale cache shows them, and
 * anyone who may create pods can forge them, so they must not end the Job.
 */
function hasOtherAttempts({ workload: current, pods, orphans = [] }: TrainingObserved, attempt: number): boolean {
  return current ? attemptOf(current) !== attempt : pods.length + orphans.length > 0
}

/** A pod belongs to the attempt of its Job: the label of the pod can be edited. */
function podMembers({ pods, workload: current }: TrainingObserved): Member[] {
  return pods.map((pod) => ({
    ...memberOf(pod, { role: WORKER, index: indexOf(pod) }),
    ...(current && { attempt: attemptOf(current) }),
  }))
}

function indexOf({ metadata: { labels = {}, annotations = {} } }: Pod): number {
  return Number(labels[INDEX] ?? annotations[INDEX] ?? 0)
}

/** Workers without a pod: the Job controller will create it, or has recorded its success. */
function podless({ job: trainingJob, workload: current, pods }: TrainingObserved): Member[] {
  if (!current || hasCondition(current, 'Failed', 'FailureTarget') || current.spec?.suspend) return []
  const existing = new Set(pods.map(indexOf))
  const succeeded = indexesIn(current.status?.completedIndexes ?? '')
  const absent = Array.from({ length: current.spec?.completions ?? 0 }, (_, index) => index).filter(
    (index) => !existing.has(index),
  )
  return absent.map((index) => {
    const phase: MemberPhase = succeeded.has(index) ? 'Succeeded' : 'Pending'
    const podName = hostname(trainingJob, WORKER, index)
    return { role: WORKER, index, attempt: attemptOf(current), podName, phase, ...templateOf(current) }
  })
}

function templateOf({ spec }: Job): Pick<Member, 'template'> {
  const template = spec?.template?.metadata?.annotations?.[TEMPLATE_ANNOTATION]
  return template === undefined ? {} : { template }
}

/** `0,2-4` → 0, 2, 3, 4. */
function indexesIn(text: string): Set<number> {
  const ranges = text.split(',').filter((range) => range !== '')
  return new Set(
    ranges.flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
    }),
  )
}

/** Ends all running pods, then deletes the Job and with it the pods that have ended. */
function removeJob(observed: TrainingObserved): Changes {
  if (podMembers(observed).some(hasActivePod)) return suspendJob(observed)
  return { writes: [], deletions: toDelete('graceful', observed.workload ? [observed.workload] : []) }
}

/** A suspended Job deletes its running pods and keeps those that have ended. A finished Job does so by itself. */
function suspendJob({ workload: current }: TrainingObserved): Changes {
  if (!current?.spec || current.metadata.deletionTimestamp !== undefined) return NO_CHANGES
  if (current.spec.suspend || hasCondition(current, 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'))
    return NO_CHANGES
  const { apiVersion, kind, metadata, spec } = current
  const { name, labels } = metadata
  const suspended = {
    apiVersion,
    kind,
    metadata: { name, ...(labels && { labels }) },
    spec: { ...spec, suspend: true },
  }
  return { writes: toWrite('apply', [suspended]), deletions: [] }
}

const attemptOf = ({ metadata }: Job): number => Number(metadata.labels?.[ATTEMPT_LABEL] ?? 0)

function hasCondition({ status }: Job, ...types: readonly string[]): boolean {
  return status?.conditions?.some(({ type, status: is }) => is === 'True' && types.includes(type)) ?? false
}

function identityOf(observed: TrainingObserved, attempt: Attempt): PodIdentity {
  const { job: trainingJob } = observed
  const rank = field('RANK', `metadata.annotations['${INDEX}']`)
  const membership = membershipOf(observed, attempt, WORKER)
  return { job: trainingJob, attempt, role: WORKER, index: '$(RANK)', rank, hostname, membership }
}

function workload(observed: TrainingObserved, attempt: Attempt): Job {
  const { job: trainingJob, config } = observed
  const { metadata, spec } = podTemplate(identityOf(observed, attempt), config, startOf(observed, attempt))
  const annotations = { ...metadata.annotations, [TEMPLATE_ANNOTATION]: job.template(observed, attempt, WORKER) }
  const labels = { [ATTEMPT_LABEL]: String(attempt.number), [JOB_UID_LABEL]: trainingJob.metadata.uid ?? '' }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: workloadName(trainingJob),
      labels: { ...objectLabels(trainingJob, WORKER), component: 'worker', ...labels },
    },
    spec: {
      completionMode: 'Indexed',
      completions: attempt.worldSize,
      parallelism: attempt.worldSize,
      backoffLimit: 0,
      podReplacementPolicy: 'Failed',
      suspend: false,
      template: { metadata: { labels: { ...metadata.labels, [WORKER_LABEL]: '' }, annotations }, spec },
    },
  }
}
