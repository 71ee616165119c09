/** Serving settings in the operator's configuration. */
import { defaultPodConfig, type PodConfig } from '../pod/config.ts'
import type { Resources } from '../pod/resources.ts'
import { defaultTrafficConfig, type TrafficConfig, trafficConfigProblem } from '../traffic/index.ts'
import { type RuntimeConfig, runtimeConfigProblem } from './runtimes/runtime.ts'

export interface ServingConfig extends TrafficConfig, PodConfig {
  /** Images and arguments of built-in runtimes. A ModelServer of the namespace takes precedence. */
  readonly runtimes: RuntimeConfig
  /** How long a version without traffic is kept: connections end, and cached routes expire. */
  readonly drainSeconds: number
  /** Of the container that fetches a model. */
  readonly fetchResources: Resources
  /** Names of the scaling metrics in the metrics adapter. */
  readonly metricNames: {
    readonly requestsPerSecond: string
    readonly concurrency: string
    readonly queueDepth: string
    readonly gpuUtilization: string
  }
}

export const defaultServingConfig: ServingConfig = {
  ...defaultTrafficConfig,
  ...defaultPodConfig,
  runtimes: {},
  drainSeconds: 30,
  // Autoscalers measure CPU utilization against the request.
  defaultResources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  fetchResources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '2', memory: '1Gi' } },
  sharedMemory: '1Gi',
  metricNames: {
    requestsPerSecond: 'requests_per_second',
    concurrency: 'concurrency',
    queueDepth: 'queue_depth',
    gpuUtilization: 'DCGM_FI_DEV_GPU_UTIL',
  },
}

/** What is wrong with the settings, beyond their types. */
export const servingConfigProblem = (config: ServingConfig): string | undefined =>
  trafficConfigProblem(config) ?? runtimeConfigProblem(config.runtimes)
