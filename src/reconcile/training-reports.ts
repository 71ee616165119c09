/** Progress reports of pods: what the controller reads of them, and which job a pod may report for. */
import { trainingJobs } from '../api/kinds.ts'
import type { PodProgress, ProgressReport, ProgressTarget } from '../api/training-report.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { ObjectKey } from '../kube/object.ts'
import { Job, Pod } from '../kube/resources.ts'
import { isFinished, isMember, type Reporting, workloadName } from '../plan/training/index.ts'
import type { CacheEvent, Caches } from '../runtime/index.ts'
import { ownWorkload } from './training-members.ts'

export interface TrainingReports {
  /** What the pods of a job have reported. */
  of(jobUid: string): readonly PodProgress[]
  forget(jobUid: string): void
  /** Why the progress of a job cannot be read. */
  problemOf(jobUid: string): string | undefined
  /** The pod to read progress from, if the pods of the job do not report; undefined while there is none. */
  follow(job: { readonly key: ObjectKey; readonly uid: string }, target: ProgressTarget | undefined): void
  /** Calls `wake` with the job of a new report. */
  onReport(wake: (key: ObjectKey) => void): void
  /** Calls `each` with every report. */
  onEach(each: (jobUid: string, report: ProgressReport) => void): void
  /** How new pods report; undefined if they cannot. */
  reporting(): Reporting | undefined
}

/** Reports of a job are of no use after its end. */
export function forgetEnded(memory: Pick<TrainingReports, 'forget'>): (event: CacheEvent<TrainingJob>) => void {
  return ({ type, object }) => {
    if (type === 'delete' || isFinished(object)) memory.forget(object.metadata.uid ?? '')
  }
}

interface PodReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

interface ReportedJob {
  readonly uid: string
  readonly isFinished: boolean
}

/** Finds the job with this name, if the pod is a member of it. The pod is the one of the token, by name and uid. */
export function jobOfPod(caches: Caches): (key: ObjectKey, pod: PodReference) => ReportedJob | undefined {
  return (key, { namespace, name, uid }) => {
    const job = caches.of(trainingJobs).get(key)
    const pod = caches.find({ apiVersion: 'v1', kind: Pod.kind }, { namespace, name })
    if (!job?.metadata.uid || !pod || pod.metadata.uid !== uid) return undefined
    const named = caches.find({ apiVersion: 'batch/v1', kind: Job.kind }, { ...key, name: workloadName(job) })
    const workload = ownWorkload(job, named)
    return isMember(pod, job, workload) ? { uid: job.metadata.uid, isFinished: isFinished(job) } : undefined
  }
}
