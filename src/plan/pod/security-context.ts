/**
 * Security contexts that pass Pod Security `restricted`: no root, no privileges, no capabilities. GPUs come from resource
 * limits and need none of them.
 */
import type { Pod } from '../../kube/resources.ts'

type PodSpec = NonNullable<Pod['spec']>
type PodSecurityContext = NonNullable<PodSpec['securityContext']>
type ContainerSecurityContext = NonNullable<PodSpec['containers'][number]['securityContext']>

/** `user` is also the group, and owns the volumes. */
export function restrictedPodSecurity(
  user: number,
  options: Pick<PodSecurityContext, 'fsGroupChangePolicy'> = {},
): PodSecurityContext {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    ...options,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

export function restrictedContainerSecurity(
  options: Pick<ContainerSecurityContext, 'readOnlyRootFilesystem'> = {},
): ContainerSecurityContext {
  return { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, ...options }
}
