/** The pods and the Indexed Job of a TrainingJob: from the caches, or from the API server where the caches may lag. */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { isNotFound } from '../kube/errors.ts'
import { Job, Pod } from '../kube/resources.ts'
import { JOB_UID_LABEL, membershipOf, type TrainingObserved, workloadName } from '../plan/training/index.ts'
import { isControlledBy, type ReconcileContext } from '../runtime/index.ts'
import type { TrainingCaches } from './training-caches.ts'

export type Members = Pick<TrainingObserved, 'pods' | 'checkpointPods' | 'orphans' | 'workload'>
export type ReadMembers = (job: TrainingJob) => Promise<Members>

export function cachedMembers(job: TrainingJob, { pods, workloads }: TrainingCaches): Members {
  const { namespace = '', uid = '' } = job.metadata
  const workload = workloads.get({ namespace, name: workloadName(job) })
  return membersOf(job, workload, pods.byLabel(JOB_UID_LABEL, uid))
}

/** Two requests, for a job that seems to have lost a pod. */
export function liveMembers({ client, signal }: Pick<ReconcileContext, 'client' | 'signal'>): ReadMembers {
  return async (job) => {
    const { namespace = '', uid = '' } = job.metadata
    const [{ items }, workload] = await Promise.all([
      client.list(Pod, { namespace, labelSelector: `${JOB_UID_LABEL}=${uid}`, signal }),
      client.get(Job, { namespace, name: workloadName(job) }, { signal }).catch(absent),
    ])
    return membersOf(job, workload, items)
  }
}

function membersOf(job: TrainingJob, named: Job | undefined, candidates: readonly Pod[]): Members {
  const workload = ownWorkload(job, named)
  return { ...membershipOf(job, workload, candidates), ...(workload && { workload }) }
}

export function ownWorkload(job: TrainingJob, named: Job | undefined): Job | undefined {
  return named && isControlledBy(named, job) ? named : undefined
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
