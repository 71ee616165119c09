/** What whoever runs the operator may decide about models that are served. */
import type { Resources } from '../resources.ts'
import { defaultTrafficConfig, type TrafficConfig } from '../traffic/config.ts'

interface Toleration {
  readonly key: string
  readonly operator: 'Exists' | 'Equal'
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export interface ServingConfig extends TrafficConfig {
  /** A version that gets no traffic any more is kept this long before it goes: connections end, caches of routes expire. */
  readonly drainSeconds: number
  /** For CPU and memory, where a model asks for neither. The CPU request is what an autoscaler measures use against. */
  readonly defaultResources: Resources
  /** Of the container that fetches a model. */
  readonly fetchResources: Resources
  /** Name under which GPUs are asked for. */
  readonly gpuResource: string
  /** Where pods with GPUs may go, beside what the model itself says. */
  readonly gpuTolerations: readonly Toleration[]
  /** Size of /dev/shm. It counts against the memory limit of the pod. */
  readonly sharedMemory: string
  /** Who the pods run as; never root. */
  readonly user: number
  /** Names under which a metrics adapter offers what a number of pods may follow. */
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
