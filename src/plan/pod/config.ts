/**
 * What the administrator configures for pods, once for those of jobs and once for those of models: sections `training` and
 * `serving` of the configuration. Only `training` has `gpuNodeSelector`.
 */
import type { ResourceConfig } from './resources.ts'
import type { GpuScheduling } from './scheduling.ts'

export interface PodConfig extends ResourceConfig, GpuScheduling {
  /** Size of /dev/shm. It counts against the memory limit of the container. */
  readonly sharedMemory: string
  /** User and group of the pods; never root. */
  readonly user: number
}

/** Defaults of both sections. Resources and shared memory differ between training and serving. */
export const defaultPodConfig = {
  gpuResource: 'nvidia.com/gpu',
  gpuTolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  user: 1000,
} as const satisfies Partial<PodConfig>
