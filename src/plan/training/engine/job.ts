/**
 * One Indexed Job for all workers, `{name}-job`. Its first failed pod fails it, which ends the others: what a gang wants. The
 * Job stays until all its pods have ended, so nothing of an attempt is left when its Job is gone.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import type { Attempt } from '../attempt.ts'
import { field } from '../environment/variable.ts'
import { isActive, type Member, memberOf, type MemberPhase } from '../member.ts'
import { ATTEMPT_LABEL, JOB_UID_LABEL, jobLabels, WORKER, WORKER_LABEL, workloadName } from '../names.ts'
import type { TrainingObserved } from '../observed.ts'
import { podTemplate } from '../pod-template.ts'
import { type Change, type Engine, NO_CHANGE } from './contract.ts'

const INDEX = 'batch.kubernetes.io/job-completion-index'

export const job: Engine = {
  hostname,
  members: (observed) => [...running(observed), ...announced(observed)],
  isOccupied: (observed, attempt) =>
    running(observed).some((member) => member.attempt !== attempt) ||
    (observed.workload !== undefined && attemptOf(observed.workload) !== attempt),
  occupy: (observed, attempt, seats) => (observed.workload || seats.length === 0 ? [] : [workload(observed, attempt)]),
  clear: (observed, members) => (members.length === 0 && !observed.workload ? NO_CHANGE : cleared(observed)),
  stop: (observed) => (job.members(observed).some(isActive) ? suspended(observed) : NO_CHANGE),
}

/** The host name is not ours to choose: a Job gives its pods its own name and their index. */
function hostname(trainingJob: TrainingJob, _role: string, index: number): string {
  return `${workloadName(trainingJob)}-${index}`
}

function running({ pods }: TrainingObserved): Member[] {
  return pods.map((pod) => memberOf(pod, { role: WORKER, index: indexOf(pod) }))
}

function indexOf({ metadata: { labels = {}, annotations = {} } }: Pod): number {
  return Number(labels[INDEX] ?? annotations[INDEX] ?? 0)
}

/** Seats that the Job speaks for although no pod is there: it will create one, or it has seen one succeed. */
function announced({ job: trainingJob, workload: there, pods }: TrainingObserved): Member[] {
  if (!there || hasCondition(there, 'Failed', 'FailureTarget') || there.spec?.suspend) return []
  const taken = new Set(pods.map(indexOf))
  const succeeded = indexesIn(there.status?.completedIndexes ?? '')
  const free = Array.from({ length: there.spec?.completions ?? 0 }, (_, index) => index).filter(
    (index) => !taken.has(index),
  )
  return free.map((index) => {
    const phase: MemberPhase = succeeded.has(index) ? 'Succeeded' : 'Pending'
    return { role: WORKER, index, attempt: attemptOf(there), podName: hostname(trainingJob, WORKER, index), phase }
  })
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

/** First nothing runs any more, then the Job goes and takes with it what has ended. */
function cleared(observed: TrainingObserved): Change {
  if (running(observed).some(isActive)) return suspended(observed)
  return { apply: [], prune: observed.workload ? [observed.workload] : [] }
}

/** The Job as it is, but suspended: it deletes what runs and keeps what has ended. A finished one does so by itself. */
function suspended({ workload: there }: TrainingObserved): Change {
  if (!there?.spec || there.metadata.deletionTimestamp !== undefined) return NO_CHANGE
  if (there.spec.suspend || hasCondition(there, 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'))
    return NO_CHANGE
  const { apiVersion, kind, metadata, spec } = there
  const { name, labels } = metadata
  return {
    apply: [
      { apiVersion, kind, metadata: { name, ...(labels && { labels }) }, spec: { ...spec, suspend: true } } as Job,
    ],
    prune: [],
  }
}

const attemptOf = ({ metadata }: Job): number => Number(metadata.labels?.[ATTEMPT_LABEL] ?? 0)

function hasCondition({ status }: Job, ...types: readonly string[]): boolean {
  return status?.conditions?.some(({ type, status: is }) => is === 'True' && types.includes(type)) ?? false
}

function workload({ job: trainingJob, config }: TrainingObserved, attempt: Attempt): Job {
  const { metadata, spec } = podTemplate({
    job: trainingJob,
    attempt,
    config,
    role: WORKER,
    index: '$(RANK)',
    rank: field('RANK', `metadata.annotations['${INDEX}']`),
    hostname,
  })
  const labels = { [ATTEMPT_LABEL]: String(attempt.number), [JOB_UID_LABEL]: trainingJob.metadata.uid ?? '' }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: workloadName(trainingJob),
      labels: { ...jobLabels(trainingJob), component: 'worker', ...labels },
    },
    spec: {
      completionMode: 'Indexed',
      completions: attempt.worldSize,
      parallelism: attempt.worldSize,
      backoffLimit: 0,
      podReplacementPolicy: 'Failed',
      suspend: false,
      template: { metadata: { ...metadata, labels: { ...metadata.labels, [WORKER_LABEL]: '' } }, spec },
    },
  }
}
