/** Who belongs to a job: from memory or, where that could mislead, from the server itself. */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { isNotFound } from '../kube/errors.ts'
import { Job, Pod } from '../kube/resources.ts'
import { JOB_UID_LABEL, workloadName } from '../plan/training/names.ts'
import type { TrainingObserved } from '../plan/training/observed.ts'
import { isControlledBy, type ReconcileContext } from '../runtime/index.ts'
import type { TrainingCaches } from './training-caches.ts'

export type Members = Pick<TrainingObserved, 'pods' | 'workload'>
export type ReadMembers = (job: TrainingJob) => Promise<Members>

export function cachedMembers(job: TrainingJob, { pods, workloads }: TrainingCaches): Members {
  const { namespace = '', uid = '' } = job.metadata
  const workload = workloads.get({ namespace, name: workloadName(job) })
  return { pods: pods.byLabel(JOB_UID_LABEL, uid), ...ownWorkload(job, workload) }
}

/** Two requests, for a job that seems to have lost somebody. */
export function liveMembers({ client, signal }: Pick<ReconcileContext, 'client' | 'signal'>): ReadMembers {
  return async (job) => {
    const { namespace = '', uid = '' } = job.metadata
    const [{ items }, workload] = await Promise.all([
      client.list(Pod, { namespace, labelSelector: `${JOB_UID_LABEL}=${uid}`, signal }),
      client.get(Job, { namespace, name: workloadName(job) }, { signal }).catch(absent),
    ])
    return { pods: items, ...ownWorkload(job, workload) }
  }
}

function ownWorkload(job: TrainingJob, workload: Job | undefined): Pick<Members, 'workload'> {
  return workload && isControlledBy(workload, job) ? { workload } : {}
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
