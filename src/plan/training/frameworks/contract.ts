/**
 * A framework decides how the processes of a training job find each other. Everything particular to a framework is in
 * its own file in this folder. The names of frameworks and of their roles appear nowhere else but in the API.
 *
 * To add a framework: write its file, add a line to registry.ts and its name to `frameworks` in the API.
 * contract.test.ts runs one suite for all of them.
 */
import type { Role } from '../../../api/training-roles.ts'
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { Variable } from '../../pod/variable.ts'
import type { Attempt, Replica } from '../observe/attempt.ts'
import type { PodIdentity } from './pod-identity.ts'

export interface Framework {
  /** Image of a job that names none; `{model}` stands for the model. The operator's configuration can replace it. */
  readonly defaultImage: string
  /** How the training script starts in a job without a command. */
  readonly launch: Launch
  /** Command of the workers, whatever the spec says. Absent: that of the spec, or else `launch`. */
  readonly workerCommand?: readonly string[]
  /** Variables of a pod, beside those that every pod has. Of all pods in an attempt only the role and the index differ. */
  readonly environment: (pod: PodIdentity) => readonly Variable[]
  /** Roles that a job may have beside its workers. Absent: none. */
  readonly roles?: Readonly<Partial<Record<Role['name'], RoleTraits>>>
  /** Files that every pod mounts. */
  readonly files?: readonly FrameworkFile[]
  /** Secrets that every pod mounts. */
  readonly secrets?: readonly FrameworkSecret[]
  /** Absent: the loss of any pod restarts the gang. */
  readonly elasticity?: Elasticity
}

export interface Launch {
  /** Lines of bash that run first. */
  readonly setup?: readonly string[]
  /** The command line, in parts. The options of the training script follow. */
  readonly command: readonly string[]
}

export interface RoleTraits {
  /** Every job has one, whether its spec lists the role or not. */
  readonly isImplied?: true
  /** The job completes when this role succeeds. Absent in all roles of a job: when all workers succeed. */
  readonly decidesSuccess?: true
  /** Created once all workers run. */
  readonly startsAfterWorkers?: true
  /** Trains, and so has the GPUs of a worker unless the spec says otherwise. Absent: none. */
  readonly usesWorkerGpus?: true
}

export interface FrameworkFile {
  /** Key in the ConfigMap of the job. */
  readonly key: string
  readonly mountPath: string
  readonly content: (job: TrainingJob, attempt: Attempt) => string
}

/** Random data, which gather generates because plan is pure. */
export type SecretGenerator = 'sshKeyPair'
export type SecretData = Readonly<Record<string, string>>

export interface FrameworkSecret {
  readonly generator: SecretGenerator
  /** Includes the uid of the job: the operator cannot read Secrets, so only the name identifies the owner. */
  readonly name: (job: TrainingJob) => string
  readonly type: string
  readonly volumeName: string
  readonly mountPath: string
}

export interface Elasticity {
  /** Whether the processes of this job continue when some of them are lost. */
  readonly isEnabled: (spec: TrainingJobSpec) => boolean
  /** Whether the others cannot continue without this one. */
  readonly isEssential: (replica: Replica) => boolean
}

/** Where an image has its training script, if the job has no command. */
export const PYTHON_SCRIPT: Launch['command'] = ['python /app/train.py']

export const DEFAULT_IMAGE = 'training-image:{model}'
