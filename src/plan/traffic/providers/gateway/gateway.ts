/**
 * Gateway API: an HTTPRoute with a weight for each version's Service. Its parents are the named Gateways or, without any,
 * the model's own Service, for meshes that implement the Gateway API.
 */
import { serviceName } from '../../../model-names.ts'
import { modelObject } from '../../../model-object.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from '../../contract.ts'
import { queriesProblem, type VersionQueries } from '../../version-queries.ts'
import type { Weights } from '../../weights.ts'
import { allServers, hasRoute, named, observedOf } from '../route-object.ts'
import { serverQueryDefaults } from '../server-queries.ts'
import { weighted } from '../weighted.ts'
import { backendsOf, HTTPRoute, type HTTPRouteRule, type ParentReference } from './kinds.ts'

export interface GatewayConfig {
  /** How Prometheus knows the requests of a version. By default as servers count them: gateways have no common series. */
  readonly gatewayQueries: VersionQueries
}

const defaults: GatewayConfig = { gatewayQueries: serverQueryDefaults.serverQueries }

export const gateway = {
  ...weighted,
  name: 'gateway',
  routesGateways: true,
  rules: ['mirror', 'headers'],
  kinds: [{ resource: HTTPRoute }],
  permission: 'Split the traffic of a model, on clusters with the Gateway API.',
  defaults: { ...defaults },
  configProblem: ({ gatewayQueries }: Partial<GatewayConfig>) => queriesProblem('gatewayQueries', gatewayQueries),
  queries: ({ gatewayQueries }: Partial<GatewayConfig>) => gatewayQueries ?? defaults.gatewayQueries,
  suits: ({ hasGateways }) => hasGateways,
  recognises: (entrance) => hasRoute(entrance, HTTPRoute),
  render,
  inEffect,
} satisfies TrafficProvider

/** Conditions of a parent that has programmed the route. */
const ACCEPTED = ['Accepted', 'ResolvedRefs']

/** Only versions with weight: a rule takes sixteen Services, and one that is missing makes the whole rule unresolved. */
function render(target: TrafficTarget): Rendered {
  const { gateways, hostnames, name } = target
  const route: HTTPRoute = {
    ...modelObject(target, HTTPRoute, name),
    spec: { parentRefs: parentsOf(target), ...(gateways && hostnames && { hostnames }), rules: rulesOf(target) },
  }
  return { apply: [route], annotate: [], selector: allServers(target) }
}

/** One rule for each match, then all other requests by weight. Cookies cannot be matched. */
function rulesOf(target: TrafficTarget): HTTPRouteRule[] {
  const { backends, port, rules: { match = [], mirror } = {} } = target
  const serviceOf = (version: string): string =>
    backends.find((backend) => backend.version === version)?.service ?? version
  const matches = match.flatMap(({ version, header }) =>
    header ? [{ matches: [{ headers: [header] }], backendRefs: [{ name: serviceOf(version), port, weight: 1 }] }] : [],
  )
  const backendRefs = backends
    .filter(({ weight }) => weight > 0)
    .map(({ service, weight }) => ({ name: service, port, weight }))
  const copies = mirror && {
    type: 'RequestMirror' as const,
    requestMirror: {
      backendRef: { name: serviceOf(mirror.version), port },
      ...(mirror.percent < 100 && { percent: mirror.percent }),
    },
  }
  return [...matches, { backendRefs, ...(copies && { filters: [copies] }) }]
}

function parentsOf(target: TrafficTarget): ParentReference[] {
  if (!target.gateways) return [{ group: '', kind: 'Service', name: serviceName(named(target)) }]
  return [...new Set(target.gateways)].map((reference) => {
    const [name = '', namespace] = reference.split('/').toReversed()
    return { group: HTTPRoute.group, kind: 'Gateway', name, ...(namespace !== undefined && { namespace }) }
  })
}

/**
 * Every parent must have accepted the stored generation: one that has not may still route by an older one. Where an emptied
 * route leads is unknown.
 */
function inEffect(target: TrafficTarget, observed: TrafficObserved): Weights | undefined {
  const route = observedOf(observed, HTTPRoute, target.name)
  const parents = route?.spec.parentRefs ?? []
  if (!route || parents.length === 0 || !parents.every((parent) => isAccepted(route, parent))) return undefined
  const versions = new Map(target.backends.map(({ service, version }) => [service, version]))
  const backends = backendsOf(route).filter(({ weight }) => weight > 0)
  const total = backends.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0 || !backends.every(({ name }) => versions.has(name))) return undefined
  return new Map(backends.map(({ name, weight }) => [versions.get(name) ?? name, (weight * 100) / total]))
}

function isAccepted({ metadata, status }: HTTPRoute, parent: ParentReference): boolean {
  const statuses = (status?.parents ?? []).filter(
    ({ parentRef: { kind = 'Gateway', name, namespace = metadata.namespace } }) =>
      kind === parent.kind && name === parent.name && namespace === (parent.namespace ?? metadata.namespace),
  )
  const isTrue = (type: string): boolean =>
    statuses.every(({ conditions = [] }) =>
      conditions.some(
        (condition) =>
          condition.type === type &&
          condition.status === 'True' &&
          (condition.observedGeneration ?? 0) >= (metadata.generation ?? 0),
      ),
    )
  return statuses.length > 0 && ACCEPTED.every(isTrue)
}
