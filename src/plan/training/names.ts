/** Names, labels and annotations of the objects of a job. All are contracts with users and tools. */
import { trainingGuards } from '../../api/pod-guards.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { recommendedLabels } from '../labels.ts'

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

/** On every pod that reports its progress: the certificates to trust, mounted as a file. */
export const REPORT_CA_ANNOTATION = 'trainingjob.ml.example.com/report-ca'

export const WORKER = 'worker'
export const CONTAINER = trainingGuards.container.name

export const serviceName = (job: TrainingJob): string => `${job.metadata.name}-workers`
export const configMapName = (job: TrainingJob): string => `${job.metadata.name}-config`
export const claimName = (job: TrainingJob): string => `${job.metadata.name}-checkpoints`
/** The pod that lists, prunes, imports or deletes the checkpoints of the job. */
export const checkpointPodName = (job: TrainingJob): string => `${job.metadata.name}-checkpoints`
/** Of the ConfigMap that keeps the history of a finished job. */
export const historyName = (job: TrainingJob): string => `${job.metadata.name}-history`
export const workloadName = (job: TrainingJob): string => `${job.metadata.name}-job`
/** Name and host name of a pod: `{name}-workers-3` for a worker, else `{name}-{role}-{index}`. */
export const podName = (job: TrainingJob, role: string, index: number | string): string =>
  `${job.metadata.name}-${role === WORKER ? 'workers' : role}-${index}`

const APP = 'trainingjob'

/** Labels of every object of a job. Selectors use them. */
export const jobLabels = (job: TrainingJob): Record<string, string> => ({ app: APP, trainingjob: job.metadata.name })

/** `jobLabels`, and the labels that Kubernetes recommends. `component`: what the object is for. */
export const objectLabels = (job: TrainingJob, component: string): Record<string, string> => ({
  ...jobLabels(job),
  ...recommendedLabels({ name: APP, instance: job.metadata.name, component }),
})
