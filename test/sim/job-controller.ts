/** The Job controller, as far as it concerns an Indexed Job with a backoffLimit of 0. */
import type { Job, Pod } from '../../src/kube/resources.ts'
import { isActive, isTerminating } from './pod-store.ts'

const INDEX = 'batch.kubernetes.io/job-completion-index'

export interface JobPods {
  readonly all: readonly Pod[]
  /** Part of the names of pods, so that no name is used twice. */
  uids(): number
  create(pod: Pod): void
  delete(pod: Pod): void
}

/** One reconcile of the Job. Returns the Job with the status that it has then. */
export function controlJob(job: Job, pods: JobPods): Job {
  const own = pods.all.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === job.metadata.uid)
  const hasFailed = own.some((pod) => pod.status?.phase === 'Failed' || (isTerminating(pod) && !job.spec?.suspend))
  if (hasFailed) return endJob(job, own, pods, 'FailureTarget')
  if (job.spec?.suspend) {
    own.filter(isActive).forEach((pod) => pods.delete(pod))
    return job
  }
  if (succeeded(own).length === job.spec?.completions) return endJob(job, own, pods, 'Complete')
  if (job.status?.conditions) return job
  for (let index = 0; index < (job.spec?.completions ?? 0); index += 1)
    if (!own.some(({ metadata }) => metadata.labels?.[INDEX] === String(index)))
      pods.create(podOf(job, index, pods.uids()))
  return job
}

const succeeded = (pods: readonly Pod[]): readonly Pod[] => pods.filter(({ status }) => status?.phase === 'Succeeded')

function endJob(job: Job, own: readonly Pod[], pods: JobPods, type: string): Job {
  const conditions = [{ type, status: 'True' as const }]
  const done = succeeded(own).map(({ metadata }) => metadata.labels?.[INDEX])
  for (const pod of own.filter(isActive)) pods.delete(pod)
  return { ...job, status: { conditions, completedIndexes: done.join(',') } }
}

function podOf({ metadata, spec }: Job, index: number, uids: number): Pod {
  const template = spec?.template ?? {}
  const labels = { ...template.metadata?.labels, [INDEX]: String(index) }
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: metadata.name, uid: metadata.uid ?? '', controller: true }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${metadata.name}-${index}-${uids}`,
      labels,
      ownerReferences: [owner],
      annotations: { ...template.metadata?.annotations },
    },
    ...(template.spec && { spec: template.spec }),
  }
}
