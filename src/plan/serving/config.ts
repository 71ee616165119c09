/** Serving settings in the operator's configuration. */
import { defaultPodConfig, type PodConfig } from '../pod/config.ts'
import type { Resources } from '../pod/resources.ts'
import { defaultTrafficConfig, type TrafficConfig } from '../traffic/index.ts'

export interface ServingConfig extends TrafficConfig, PodConfig {
  /** How long a version without traffic is kept: connections end, and cached routes expire. */
  readonly drainSeconds: number
  /** Of the container that fetches a model. */
  readonly fetchResources: Resources
  /** Names of the scaling metrics in the metrics adapter. */
  readonly metricNames: {
    readonly requestsPerSecond: string
    readonly queueDepth: string
    readonly gpuUtilization: string
  }
}

export const defaultServingConfig: ServingConfig = {
  ...defaultTrafficConfig,
  ...defaultPodConfig,
  drainSeconds: 30,
  // Autoscalers measure CPU utilization against the request.
  defaultResources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  fetchResources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '2', memory: '1Gi' } },
  sharedMemory: '1Gi',
  metricNames: {
    requestsPerSecond: 'requests_per_second',
    queueDepth: 'queue_depth',
    gpuUtilization: 'DCGM_FI_DEV_GPU_UTIL',
  },
}
