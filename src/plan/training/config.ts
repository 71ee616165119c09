/** What the administrator configures for all training jobs. */
import { DEFAULT_AGENT_IMAGE, defaultPodConfig, type PodConfig } from '../pod/config.ts'
import type { Resources } from '../pod/resources.ts'
import {
  type CostConfig,
  costConfigProblem,
  defaultCostConfig,
  defaultSpotConfig,
  type SpotConfig,
} from './cost-config.ts'
import { type FrameworkName, frameworks } from './frameworks/registry.ts'
import { defaultSchedulerNames, type SchedulerNames } from './gangs/registry.ts'

export const retentions = ['WithJob', 'Keep'] as const

export interface HistoryConfig {
  /** Whether the operator keeps status, metrics and logs of finished jobs in ConfigMaps. */
  readonly enabled: boolean
  /** WithJob (default): the history is deleted with its job. Keep: it stays, until another job of that name ends. */
  readonly retention?: (typeof retentions)[number]
}

export interface TrainingConfig extends PodConfig, SpotConfig {
  /** Image of a job without one, by framework; `{model}` stands for the model. Omitted: the default of the framework. */
  readonly defaultImages: Readonly<Partial<Record<FrameworkName, string>>>
  /** CPU and memory that a job does not set, for pods without GPUs or other devices. */
  readonly defaultCpuResources: Resources
  readonly metricsPort: number
  /** Port of NVIDIA's DCGM exporter on every node with GPUs; 0: the utilization of GPUs is not read. */
  readonly gpuExporterPort: number
  /** Access mode of the claim for checkpoints where the job sets none. Auto: ReadWriteOnce for one pod, else ReadWriteMany. */
  readonly checkpointAccessMode: 'Auto' | 'ReadWriteMany' | 'ReadWriteOnce'
  /** The operator's own image, for containers that work on checkpoints, and their resources. */
  readonly agentImage: string
  readonly agentResources: Resources
  /** Backoff before the first restart; doubled for each further failure, up to the limit. */
  readonly backoffMs: number
  readonly backoffLimitMs: number
  /** Whether `status.lastFailure.log` has the last log lines of a failed worker, for everyone who may read the job. */
  readonly failureLogs: boolean
  /** How long the number of workers of a running job stays after it has changed. */
  readonly resizeIntervalMs: number
  readonly history: HistoryConfig
  /** Name of the scheduler of pods, by gang scheduler, for jobs that set no `schedulerName`. */
  readonly gangSchedulerNames: SchedulerNames
  /** How long a gang may hold only some of its nodes, for jobs that set no `gangTimeoutSeconds`; 0: for ever. */
  readonly gangTimeoutMs: number
  /** How long a node must be not ready before pods that are stuck on it are deleted by force. */
  readonly deadNodeMs: number
  readonly cost: CostConfig
}

export const defaultTrainingConfig: TrainingConfig = {
  ...defaultPodConfig,
  defaultImages: Object.fromEntries(Object.entries(frameworks).map(([name, { defaultImage }]) => [name, defaultImage])),
  defaultResources: { requests: { cpu: '4', memory: '16Gi' }, limits: { cpu: '8', memory: '32Gi' } },
  gpuNodeSelector: {},
  defaultCpuResources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  sharedMemory: '2Gi',
  metricsPort: 8000,
  gpuExporterPort: 0,
  checkpointAccessMode: 'Auto',
  agentImage: DEFAULT_AGENT_IMAGE,
  agentResources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '2', memory: '1Gi' } },
  backoffMs: 10_000,
  backoffLimitMs: 600_000,
  failureLogs: true,
  resizeIntervalMs: 300_000,
  history: { enabled: false, retention: 'WithJob' },
  gangSchedulerNames: defaultSchedulerNames,
  gangTimeoutMs: 600_000,
  deadNodeMs: 300_000,
  cost: defaultCostConfig,
  ...defaultSpotConfig,
}

/** What is wrong with settings that have more than one value; undefined if nothing is. */
export function trainingConfigProblem(config: TrainingConfig): string | undefined {
  return historyProblem(config) ?? costConfigProblem(config.cost, config)
}

function historyProblem({ history }: TrainingConfig): string | undefined {
  const { enabled, retention = 'WithJob', ...others } = history
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `history.${unknown} is unknown: history has enabled and retention`
  if (typeof enabled !== 'boolean') return 'history.enabled must be true or false'
  return retentions.includes(retention) ? undefined : `history.retention must be one of ${retentions.join(', ')}`
}
