/**
 * Which pods belong to a job: those in its namespace that it controls, itself or through its Indexed Job. The uid label
 * only narrows the search, since anyone who may create pods can copy it.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { controllerOf } from '../../../kube/object.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { checkpointPodName, JOB_UID_LABEL, workloadName } from '../names.ts'

export interface Membership {
  readonly pods: readonly Pod[]
  /** The pod that works on the checkpoints, which is no member. */
  readonly checkpointPods: readonly Pod[]
  /** Pods of a deleted Job `{name}-job`. They are not members, but no pod may start while they exist. */
  readonly orphans: readonly Pod[]
}

export function membershipOf(job: TrainingJob, workload: Job | undefined, candidates: readonly Pod[]): Membership {
  const labelled = candidates.filter((pod) => isLabelled(pod, job))
  return {
    pods: labelled.filter((pod) => isMember(pod, job, workload)),
    checkpointPods: labelled.filter((pod) => isCheckpointPod(pod, job)),
    orphans: labelled.filter((pod) => isOrphan(pod, job, workload)),
  }
}

/** `workload` is `{name}-job`, if it exists and the job controls it. */
export function isMember(pod: Pod, job: TrainingJob, workload: Job | undefined): boolean {
  const controller = controllerOf(pod)
  if (!controller || !isLabelled(pod, job) || isCheckpointPod(pod, job)) return false
  return controller.uid === job.metadata.uid || controller.uid === workload?.metadata.uid
}

/** By its name, which no member has and nobody can edit. */
function isCheckpointPod(pod: Pod, job: TrainingJob): boolean {
  return pod.metadata.name === checkpointPodName(job) && controllerOf(pod)?.uid === job.metadata.uid
}

function isLabelled({ metadata }: Pod, job: TrainingJob): boolean {
  const { uid, namespace } = job.metadata
  return uid !== undefined && metadata.labels?.[JOB_UID_LABEL] === uid && metadata.namespace === namespace
}

/** The garbage collector deletes orphans, forged ones included, so they delay the job but never block it. */
function isOrphan(pod: Pod, job: TrainingJob, workload: Job | undefined): boolean {
  const controller = controllerOf(pod)
  const belongsToJob = job.spec.engine === 'job' && controller?.kind === 'Job' && controller.name === workloadName(job)
  return belongsToJob && controller.uid !== workload?.metadata.uid && !isKeptByFinalizer(pod)
}

const JOB_TRACKING = 'batch.kubernetes.io/job-tracking'

/** Nothing of it runs, and only a foreign finalizer keeps the object. */
function isKeptByFinalizer({ metadata, spec, status }: Pod): boolean {
  const isIdle = spec?.nodeName === undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return isIdle && (metadata.finalizers ?? []).some((finalizer) => finalizer !== JOB_TRACKING)
}
