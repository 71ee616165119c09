/** What the administrator configures for all training jobs. */
import type { Resources } from '../pod/resources.ts'
import type { Toleration } from '../pod/scheduling.ts'
import { type FrameworkName, frameworks } from './frameworks/registry.ts'

export interface TrainingConfig {
  /** Image of a job without one, by framework; `{model}` stands for the model. Omitted: the default of the framework. */
  readonly defaultImages: Readonly<Partial<Record<FrameworkName, string>>>
  /** CPU and memory of a job that requests neither. */
  readonly defaultResources: Resources
  /** Resource name of GPUs. */
  readonly gpuResource: string
  /** Node selector and tolerations of workers with GPUs, beside those of the job. */
  readonly gpuNodeSelector: Readonly<Record<string, string>>
  readonly gpuTolerations: readonly Toleration[]
  /** Size of /dev/shm. It counts against the memory limit of the worker. */
  readonly sharedMemory: string
  /** User and group of the workers; never root. */
  readonly user: number
  readonly metricsPort: number
  /** Access mode of the claim for checkpoints. */
  readonly checkpointAccessMode: 'ReadWriteMany' | 'ReadWriteOnce'
  /** Backoff before the first restart; doubled for each further failure, up to the limit. */
  readonly backoffMs: number
  readonly backoffLimitMs: number
  /** Whether `status.lastFailure.log` has the last log lines of a failed worker, for everyone who may read the job. */
  readonly failureLogs: boolean
  /** How long a node must be not ready before pods that are stuck on it are deleted by force. */
  readonly deadNodeMs: number
}

export const defaultTrainingConfig: TrainingConfig = {
  defaultImages: Object.fromEntries(Object.entries(frameworks).map(([name, { defaultImage }]) => [name, defaultImage])),
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
  failureLogs: true,
  deadNodeMs: 300_000,
}
