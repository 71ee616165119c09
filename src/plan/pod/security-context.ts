/**
 * Security contexts that pass Pod Security `restricted`: no root, no privileges, no capabilities. GPUs come from resource
 * limits and need none of them.
 */
import type { Pod } from '../../kube/resources.ts'

type PodSpec = NonNullable<Pod['spec']>
type PodSecurityContext = NonNullable<PodSpec['securityContext']>
type ContainerSecurityContext = NonNullable<PodSpec['containers'][number]['securityContext']>

/** The cluster chooses users and groups. OpenShift assigns a range to each namespace and rejects others. */
export const CLUSTER_USER = 'cluster'

/** User and group of pods; never root. */
export type PodUser = number | typeof CLUSTER_USER

/** `user` is also the group, and owns the volumes. */
export function restrictedPodSecurity(
  user: PodUser,
  options: Pick<PodSecurityContext, 'fsGroupChangePolicy'> = {},
): PodSecurityContext {
  return {
    runAsNonRoot: true,
    ...(user !== CLUSTER_USER && { runAsUser: user, runAsGroup: user, fsGroup: user }),
    ...options,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

export function restrictedContainerSecurity(
  options: Pick<ContainerSecurityContext, 'readOnlyRootFilesystem'> = {},
): ContainerSecurityContext {
  return { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, ...options }
}
