/**
 * No proxy: the model's Service selects the pods of all versions, and their pod counts split the traffic. Coarse, and only
 * as even as connections are: a client with a kept-alive connection stays with its pod.
 */
import type { Deployment } from '../../../kube/resources.ts'
import { VERSION_LABEL } from '../../model-names.ts'
import { apportion } from '../apportion.ts'
import type { Situation, TrafficObserved, TrafficProvider, TrafficTarget } from '../contract.ts'
import { sum, type Weights, WHOLE } from '../weights.ts'
import { allServers } from './route-object.ts'
import { serverQueries, serverQueriesProblem, serverQueryDefaults } from './server-queries.ts'

export const replicas = {
  name: 'replicas',
  kinds: [],
  defaults: { ...serverQueryDefaults },
  configProblem: serverQueriesProblem,
  queries: serverQueries,
  splitPods,
  // Too coarse to be chosen by `auto`.
  suits: () => false,
  recognises: () => false,
  render: (target) => ({ apply: [], annotate: [], selector: allServers(target) }),
  inEffect,
  canCarry: () => true,
  canTakeOver,
  isSettled: () => true,
  isRunning: () => true,
  reported,
} satisfies TrafficProvider

/**
 * How many pods each version gets out of `total`: none for weight 0, at least one for any other, else in the ratio of the
 * weights. More than `total` only if there are more versions with weight than pods.
 */
function splitPods(weights: Weights, total: number): ReadonlyMap<string, number> {
  const served = [...weights].filter(([, weight]) => weight > 0)
  const spare = Math.max(0, total - served.length)
  const all = sum(weights)
  // Beyond the one pod that each of them has anyway.
  const beyond = served.map(([version, weight]): [string, number] => [
    version,
    Math.max(0, (weight * total) / (all || 1) - 1),
  ])
  const shares = apportion(new Map(beyond), spare)
  return new Map([...weights].map(([version, weight]) => [version, weight > 0 ? 1 + (shares.get(version) ?? 0) : 0]))
}

/** The shares of available pods, once every Deployment has the pods that it should have. */
function inEffect({ backends }: TrafficTarget, { servers }: TrafficObserved): Weights | undefined {
  if (servers.some(isConverging)) return undefined
  const pods = new Map(backends.map(({ version }) => [version, 0]))
  for (const { metadata, status } of servers) {
    const version = metadata.labels?.[VERSION_LABEL]
    if (version !== undefined) pods.set(version, (pods.get(version) ?? 0) + (status?.availableReplicas ?? 0))
  }
  return [...pods.values()].some((count) => count > 0) ? apportion(pods, WHOLE) : undefined
}

function isConverging({ metadata, spec, status }: Deployment): boolean {
  const { replicas: present = 0, availableReplicas = 0, observedGeneration = 0 } = status ?? {}
  return (
    metadata.deletionTimestamp !== undefined ||
    observedGeneration < (metadata.generation ?? 0) ||
    present !== (spec?.replicas ?? 1) ||
    availableReplicas !== present
  )
}

/** Every version that the spec gives traffic has pods. */
function canTakeOver(_: Weights, { target, observed, inEffect: current }: Situation): boolean {
  const isServed = ([version, weight]: readonly [string, number]): boolean =>
    weight === 0 || (observed.available.get(version) ?? 0) > 0
  return current !== undefined && [...target.wanted].every(isServed)
}

function reported(_: Weights | undefined, { target, observed }: Situation): Weights {
  const shares = apportion(observed.available, WHOLE)
  return sum(shares) > 0 ? shares : target.recorded
}
