import type { Pod } from '../kube/resources.ts'

/** Kubernetes sends it requests of the Services that select it. */
export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
}
