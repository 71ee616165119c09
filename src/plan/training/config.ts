/** What whoever runs the operator decides for all training jobs. The defaults are those of the documents we began with. */
import type { TrainingJobSpec } from '../../api/trainingjob.v1.ts'

export interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  readonly tolerationSeconds?: number
}

type Amounts = Readonly<Record<string, string>>

export interface TrainingConfig {
  /** Image of a job that names a model instead of one; `{model}` stands for the model. */
  readonly defaultImages: Readonly<Record<TrainingJobSpec['framework'], string>>
  /** For CPU and memory, where the job asks for neither. */
  readonly defaultResources: { readonly requests: Amounts; readonly limits: Amounts }
  /** Name under which GPUs are asked for. */
  readonly gpuResource: string
  /** Where workers with GPUs go, beside what the job itself says. */
  readonly gpuNodeSelector: Readonly<Record<string, string>>
  readonly gpuTolerations: readonly Toleration[]
  /** Size of /dev/shm. It counts against the memory limit of the worker. */
  readonly sharedMemory: string
  /** Who the workers run as; never root. */
  readonly user: number
  readonly metricsPort: number
  /** How the claim for checkpoints may be mounted. */
  readonly checkpointAccessMode: 'ReadWriteMany' | 'ReadWriteOnce'
  /** Pause before the first restart; doubled for each further failure, up to the limit. */
  readonly backoffMs: number
  readonly backoffLimitMs: number
  /** How long a node may be silent before pods that cannot end on it are given up. */
  readonly deadNodeMs: number
}

const IMAGE = 'training-image:{model}'

export const defaultTrainingConfig: TrainingConfig = {
  defaultImages: { pytorch: IMAGE, tensorflow: IMAGE, xgboost: IMAGE, jax: IMAGE, mpi: IMAGE, custom: IMAGE },
  defaultResources: { requests: { cpu: '4', memory: '16Gi' }, limits: { cpu: '8', memory: '32Gi' } },
  gpuResource: 'nvidia.com/gpu',
  gpuNodeSelector: { accelerator: 'nvidia-gpu' },
  gpuTolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  sharedMemory: '2Gi',
  user: 1000,
  metricsPort: 8000,
  checkpointAccessMode: 'ReadWriteMany',
  backoffMs: 10_000,
  backoffLimitMs: 600_000,
  deadNodeMs: 300_000,
}
