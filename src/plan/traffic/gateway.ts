/**
 * Gateway API: an HTTPRoute with a weight for each version's Service. It hangs on the Gateways named or, without any, on
 * the model's own Service, where a mesh that knows the Gateway API takes it up.
 */
import { serviceName } from '../model-names.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from './contract.ts'
import { backendsOf, HTTPRoute, type ParentReference } from './kinds.ts'
import { named, observedOf, podsOf, rendering } from './route-object.ts'

export const gatewayProvider: TrafficProvider = { name: 'gateway', render, inEffect }

/** What a Gateway says when it has taken up a route as it is. */
const TAKEN_UP = ['Accepted', 'ResolvedRefs']

/** A rule has room for sixteen Services, and one that is gone makes all of it unresolved: only who gets requests is named. */
function render(target: TrafficTarget): Rendered {
  const { backends, hostnames, name, port } = target
  const backendRefs = backends
    .filter(({ weight }) => weight > 0)
    .map(({ service, weight }) => ({ name: service, port, weight }))
  const route: HTTPRoute = {
    ...rendering(target, HTTPRoute, name),
    spec: { parentRefs: parentsOf(target), ...(hostnames && { hostnames }), rules: [{ backendRefs }] },
  }
  return { apply: [route], annotate: [], selector: podsOf(target, 'server'), targetPort: port }
}

function parentsOf(target: TrafficTarget): ParentReference[] {
  if (!target.gateways) return [{ group: '', kind: 'Service', name: serviceName(named(target)) }]
  return [...new Set(target.gateways)].map((gateway) => ({ group: HTTPRoute.group, kind: 'Gateway', name: gateway }))
}

/**
 * Every parent must have taken up the generation that is stored; one that has not may still send by the one before. A route
 * that somebody emptied leads nowhere that is known.
 */
function inEffect(target: TrafficTarget, observed: TrafficObserved): ReadonlyMap<string, number> | undefined {
  const route = observedOf(observed, HTTPRoute, target.name)
  const parents = route?.spec.parentRefs ?? []
  if (!route || parents.length === 0 || !parents.every((parent) => isTakenUp(route, parent))) return undefined
  const versions = new Map(target.backends.map(({ service, version }) => [service, version]))
  const backends = backendsOf(route).filter(({ weight }) => weight > 0)
  const total = backends.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0 || !backends.every(({ name }) => versions.has(name))) return undefined
  return new Map(backends.map(({ name, weight }) => [versions.get(name) ?? name, (weight * 100) / total]))
}

function isTakenUp({ metadata, status }: HTTPRoute, parent: ParentReference): boolean {
  const statuses = (status?.parents ?? []).filter(
    ({ parentRef: { kind = 'Gateway', name } }) => kind === parent.kind && name === parent.name,
  )
  const says = (type: string): boolean =>
    statuses.every(({ conditions = [] }) =>
      conditions.some(
        (condition) =>
          condition.type === type &&
          condition.status === 'True' &&
          (condition.observedGeneration ?? 0) >= (metadata.generation ?? 0),
      ),
    )
  return statuses.length > 0 && TAKEN_UP.every(says)
}
