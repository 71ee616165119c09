/**
 * No proxy at all: the model's Service selects the pods of every version, and their numbers divide the traffic. Coarse,
 * and only as even as connections are: a client that keeps one alive stays with its pod.
 */
import type { Deployment } from '../../kube/resources.ts'
import { VERSION_LABEL } from '../model-names.ts'
import { apportion } from './apportion.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from './contract.ts'
import { podsOf } from './route-object.ts'

export const replicasProvider: TrafficProvider = { name: 'replicas', render, inEffect }

function render(target: TrafficTarget): Rendered {
  return { apply: [], annotate: [], selector: podsOf(target, 'server'), targetPort: target.port }
}

/**
 * How many pods each version should have, out of `total`: none for weight 0, at least one for any other, else in the
 * ratio of the weights. More than `total` only if there are more versions with weight than pods.
 */
export function splitReplicas(weights: ReadonlyMap<string, number>, total: number): ReadonlyMap<string, number> {
  const served = [...weights].filter(([, weight]) => weight > 0)
  const spare = Math.max(0, total - served.length)
  const all = served.reduce((sum, [, weight]) => sum + weight, 0)
  // What a version would have beyond the one that it has anyway.
  const beyond = served.map(([version, weight]): [string, number] => [
    version,
    Math.max(0, (weight * total) / (all || 1) - 1),
  ])
  const shares = apportion(new Map(beyond), spare)
  return new Map([...weights].map(([version, weight]) => [version, weight > 0 ? 1 + (shares.get(version) ?? 0) : 0]))
}

function inEffect({ backends }: TrafficTarget, { servers }: TrafficObserved): ReadonlyMap<string, number> | undefined {
  if (!servers || servers.some(isOnItsWay)) return undefined
  const pods = new Map(backends.map(({ version }) => [version, 0]))
  for (const { metadata, status } of servers) {
    const version = metadata.labels?.[VERSION_LABEL]
    if (version !== undefined) pods.set(version, (pods.get(version) ?? 0) + (status?.availableReplicas ?? 0))
  }
  return [...pods.values()].some((count) => count > 0) ? apportion(pods, 100) : undefined
}

function isOnItsWay({ metadata, spec, status }: Deployment): boolean {
  const { replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status ?? {}
  return (
    metadata.deletionTimestamp !== undefined ||
    observedGeneration < (metadata.generation ?? 0) ||
    replicas !== (spec?.replicas ?? 1) ||
    availableReplicas !== replicas
  )
}
