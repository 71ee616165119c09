/** What the objects of a job are called and how they are labelled. All of it is a contract with users and tools. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'

export const FINALIZER = 'trainingjob.ml.example.com/finalizer'
/** On the job: which one it is, and how many workers its first attempt has. The status says it once there is one. */
export const FIRST_ATTEMPT_ANNOTATION = 'trainingjob.ml.example.com/first-attempt'

/** On every worker: its rank, or nothing where the engine numbers the workers itself. */
export const WORKER_LABEL = 'trainingjob.ml.example.com/worker'
/** On every pod: what it does, `worker` or the name of one of `spec.roles`, and which of its kind it is. */
export const ROLE_LABEL = 'trainingjob.ml.example.com/role'
export const INDEX_LABEL = 'trainingjob.ml.example.com/index'
/** On every pod and on the Job of engine `job`: which attempt it belongs to, and whose it is. */
export const ATTEMPT_LABEL = 'trainingjob.ml.example.com/attempt'
export const JOB_UID_LABEL = 'trainingjob.ml.example.com/job-uid'

export const WORKER = 'worker'
export const CONTAINER = 'training-worker'

export const serviceName = (job: TrainingJob): string => `${job.metadata.name}-workers`
export const configMapName = (job: TrainingJob): string => `${job.metadata.name}-config`
export const claimName = (job: TrainingJob): string => `${job.metadata.name}-checkpoints`
export const workloadName = (job: TrainingJob): string => `${job.metadata.name}-job`
/** We cannot see whose a Secret is, so its name says it: keys of a job that had the name before are never taken for ours. */
export const keysName = ({ metadata }: TrainingJob): string => `${metadata.name}-ssh-${metadata.uid?.slice(0, 8)}`

/** The name and host name of a pod: `{name}-workers-3`, `{name}-chief-0`. */
export const podName = (job: TrainingJob, role: string, index: number | string): string =>
  `${job.metadata.name}-${role === WORKER ? 'workers' : role}-${index}`

/** Labels that everything belonging to a job carries. */
export const jobLabels = (job: TrainingJob): Record<string, string> => ({
  app: 'trainingjob',
  trainingjob: job.metadata.name,
})
