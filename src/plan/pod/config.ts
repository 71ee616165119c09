/**
 * What the administrator configures for pods, once for those of jobs and once for those of models: sections `training` and
 * `serving` of the configuration. Only `training` has `gpuNodeSelector`.
 */
import type { ResourceConfig } from './resources.ts'
import type { GpuScheduling } from './scheduling.ts'
import { CLUSTER_USER, type PodUser } from './security-context.ts'

export interface PodConfig extends ResourceConfig, GpuScheduling {
  /** Size of /dev/shm. It counts against the memory limit of the container. */
  readonly sharedMemory: string
  readonly user: PodUser
}

/** The operator's own image, for containers of the agent. The installation sets it. */
export const DEFAULT_AGENT_IMAGE = 'ghcr.io/ml-operator/ml-operator:latest'

/** Defaults of both sections. Resources and shared memory differ between training and serving. */
export const defaultPodConfig = {
  gpuResource: 'nvidia.com/gpu',
  gpuTolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  user: 1000,
} as const satisfies Partial<PodConfig>

/** What is wrong with the settings, beyond their types. */
export function podConfigProblem({ user }: Pick<PodConfig, 'user'>): string | undefined {
  if (user === CLUSTER_USER || (Number.isInteger(user) && user > 0)) return undefined
  return `user must be a user ID greater than 0, or ${CLUSTER_USER} to leave users to the cluster`
}
