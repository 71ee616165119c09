/** Names, labels and annotations of the objects of a job. All are contracts with users and tools. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'

export const FINALIZER = 'trainingjob.ml.example.com/finalizer'
/** On the job: its uid and the number of workers of its first attempt, until the status has it. */
export const FIRST_ATTEMPT_ANNOTATION = 'trainingjob.ml.example.com/first-attempt'

/** On every worker: its rank; empty where the Job controller numbers the workers. */
export const WORKER_LABEL = 'trainingjob.ml.example.com/worker'
/** On every pod: its role, `worker` or the name of one of `spec.roles`, and its index within the role. */
export const ROLE_LABEL = 'trainingjob.ml.example.com/role'
export const INDEX_LABEL = 'trainingjob.ml.example.com/index'
/** On every pod and on the Job of engine `job`: its attempt, and the uid of its TrainingJob. */
export const ATTEMPT_LABEL = 'trainingjob.ml.example.com/attempt'
export const JOB_UID_LABEL = 'trainingjob.ml.example.com/job-uid'

/** On every pod: fingerprint of the template that it was created from, which changes with the spec. */
export const TEMPLATE_ANNOTATION = 'trainingjob.ml.example.com/template'

export const WORKER = 'worker'
export const CONTAINER = 'training-worker'

export const serviceName = (job: TrainingJob): string => `${job.metadata.name}-workers`
export const configMapName = (job: TrainingJob): string => `${job.metadata.name}-config`
export const claimName = (job: TrainingJob): string => `${job.metadata.name}-checkpoints`
export const workloadName = (job: TrainingJob): string => `${job.metadata.name}-job`
/** Name and host name of a pod: `{name}-workers-3` for a worker, else `{name}-{role}-{index}`. */
export const podName = (job: TrainingJob, role: string, index: number | string): string =>
  `${job.metadata.name}-${role === WORKER ? 'workers' : role}-${index}`

/** Labels of every object of a job. */
export const jobLabels = (job: TrainingJob): Record<string, string> => ({
  app: 'trainingjob',
  trainingjob: job.metadata.name,
})
