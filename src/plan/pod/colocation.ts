/** Pod affinity that keeps pods near each other. */
import type { Affinity } from '../../api/affinity.ts'

/** Node label of a single node. */
export const NODE_KEY = 'kubernetes.io/hostname'

/** Adds the requirement to be near the pods of the selector. The first of them matches itself, so it can go anywhere. */
export function colocated(
  affinity: Affinity | undefined,
  labelSelector: object,
  topologyKeys: readonly string[],
): object {
  const required: readonly object[] = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const near = topologyKeys.map((topologyKey) => ({ labelSelector, topologyKey }))
  return {
    ...affinity,
    podAffinity: { ...affinity?.podAffinity, requiredDuringSchedulingIgnoredDuringExecution: [...required, ...near] },
  }
}
