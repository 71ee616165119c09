/** What the administrator configures for all training jobs. */
import { defaultPodConfig, type PodConfig } from '../pod/config.ts'
import type { Resources } from '../pod/resources.ts'
import { type FrameworkName, frameworks } from './frameworks/registry.ts'

export interface TrainingConfig extends PodConfig {
  /** Image of a job without one, by framework; `{model}` stands for the model. Omitted: the default of the framework. */
  readonly defaultImages: Readonly<Partial<Record<FrameworkName, string>>>
  /** CPU and memory that a job does not set, for pods without GPUs or other devices. */
  readonly defaultCpuResources: Resources
  readonly metricsPort: number
  /** Access mode of the claim for checkpoints where the job sets none. Auto: ReadWriteOnce for one pod, else ReadWriteMany. */
  readonly checkpointAccessMode: 'Auto' | 'ReadWriteMany' | 'ReadWriteOnce'
  /** Backoff before the first restart; doubled for each further failure, up to the limit. */
  readonly backoffMs: number
  readonly backoffLimitMs: number
  /** Whether `status.lastFailure.log` has the last log lines of a failed worker, for everyone who may read the job. */
  readonly failureLogs: boolean
  /** How long a node must be not ready before pods that are stuck on it are deleted by force. */
  readonly deadNodeMs: number
}

export const defaultTrainingConfig: TrainingConfig = {
  ...defaultPodConfig,
  defaultImages: Object.fromEntries(Object.entries(frameworks).map(([name, { defaultImage }]) => [name, defaultImage])),
  defaultResources: { requests: { cpu: '4', memory: '16Gi' }, limits: { cpu: '8', memory: '32Gi' } },
  gpuNodeSelector: {},
  defaultCpuResources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  sharedMemory: '2Gi',
  metricsPort: 8000,
  checkpointAccessMode: 'Auto',
  backoffMs: 10_000,
  backoffLimitMs: 600_000,
  failureLogs: true,
  deadNodeMs: 300_000,
}
