/** Serving settings in the operator's configuration. */
import type { Resources } from '../pod/resources.ts'
import { defaultTrafficConfig, type TrafficConfig } from '../traffic/index.ts'

interface Toleration {
  readonly key: string
  readonly operator: 'Exists' | 'Equal'
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export interface ServingConfig extends TrafficConfig {
  /** How long a version without traffic is kept: connections end, and cached routes expire. */
  readonly drainSeconds: number
  /** CPU and memory for models that set neither. Autoscalers measure CPU utilization against the request. */
  readonly defaultResources: Resources
  /** Of the container that fetches a model. */
  readonly fetchResources: Resources
  /** Resource name of GPUs. */
  readonly gpuResource: string
  /** Tolerations of pods with GPUs, in addition to those of the model. */
  readonly gpuTolerations: readonly Toleration[]
  /** Size of /dev/shm. It counts against the memory limit of the pod. */
  readonly sharedMemory: string
  /** User and group of the pods. Never root. */
  readonly user: number
  /** Names of the scaling metrics in the metrics adapter. */
  readonly metricNames: {
    readonly requestsPerSecond: string
    readonly queueDepth: string
    readonly gpuUtilization: string
  }
}

export const defaultServingConfig: ServingConfig = {
  ...defaultTrafficConfig,
  drainSeconds: 30,
  defaultResources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  fetchResources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '2', memory: '1Gi' } },
  gpuResource: 'nvidia.com/gpu',
  gpuTolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  sharedMemory: '1Gi',
  user: 1000,
  metricNames: {
    requestsPerSecond: 'requests_per_second',
    queueDepth: 'queue_depth',
    gpuUtilization: 'DCGM_FI_DEV_GPU_UTIL',
  },
}
