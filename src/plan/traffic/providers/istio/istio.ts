/**
 * Istio: a VirtualService splits the requests for the model's Service between subsets of its pods, one per version. A
 * DestinationRule defines the subsets by label. Sidecars and the named gateways follow them.
 *
 * The VirtualService of the mesh has the model's own host and no other, and is exported to the namespaces that the
 * administrator chose: whatever a user writes, no sidecar routes the host of another Service by it. Host names of users are
 * in a second VirtualService, for the gateways alone. The namespaces of gateways are unknown here, so it is exported to all.
 */
import { cookiePattern } from '../../../../api/cookie-pattern.ts'
import { sameJson } from '../../../../api/json.ts'
import type { MatchRule } from '../../../../api/router-report.ts'
import { serviceName, VERSION_LABEL } from '../../../model-names.ts'
import { modelObject } from '../../../model-object.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from '../../contract.ts'
import { queriesProblem, type VersionQueries } from '../../version-queries.ts'
import type { Weights } from '../../weights.ts'
import { allServers, hasRoute, named, observedOf } from '../route-object.ts'
import { weighted } from '../weighted.ts'
import {
  DestinationRule,
  destinationsOf,
  type HttpDestination,
  type HttpMatch,
  type HttpRoute,
  VirtualService,
} from './kinds.ts'
import { defaultQueries } from './queries.ts'

export interface IstioConfig {
  /** Namespaces whose sidecars follow the weights of a model, as in Istio's `exportTo`; `.` is the model's own. */
  readonly istioExportTo: readonly string[]
  /** How Prometheus knows the requests of a version. */
  readonly istioQueries: VersionQueries
}

const defaults: IstioConfig = { istioExportTo: ['.'], istioQueries: defaultQueries }

export const istio = {
  ...weighted,
  name: 'istio',
  routesGateways: true,
  rules: ['mirror', 'headers', 'cookies'],
  kinds: [{ resource: VirtualService }, { resource: DestinationRule }],
  permission: 'Split the traffic of a model, on clusters with Istio.',
  defaults: { ...defaults },
  configProblem,
  queries: ({ istioQueries }: Partial<IstioConfig>) => istioQueries ?? defaultQueries,
  suits: () => true,
  recognises: (entrance) => hasRoute(entrance, VirtualService),
  render,
  inEffect,
} satisfies TrafficProvider

type Target = TrafficTarget<IstioConfig>

const EVERYWHERE = ['*']

function configProblem({ istioExportTo, istioQueries }: Partial<IstioConfig>): string | undefined {
  const isNames = istioExportTo?.every((name) => typeof name === 'string')
  return isNames ? queriesProblem('istioQueries', istioQueries) : 'istioExportTo must be a list of strings'
}

function render(target: Target): Rendered {
  return {
    apply: [destinationRule(target), meshRoute(target), ...gatewayRoutes(target)],
    annotate: [],
    selector: allServers(target),
  }
}

function destinationRule(target: Target): DestinationRule {
  const { backends, config, gateways } = target
  const subsets = backends.map(({ version }) => ({ name: version, labels: { [VERSION_LABEL]: version } }))
  const exportTo = gateways ? EVERYWHERE : config.istioExportTo
  return {
    ...modelObject(target, DestinationRule, routeName(target)),
    spec: { host: serviceName(named(target)), exportTo, subsets },
  }
}

function meshRoute(target: Target): VirtualService {
  return {
    ...modelObject(target, VirtualService, routeName(target)),
    spec: {
      hosts: [serviceName(named(target))],
      exportTo: target.config.istioExportTo,
      http: httpRoutes(target),
    },
  }
}

function gatewayRoutes(target: TrafficTarget): VirtualService[] {
  const { gateways, hostnames } = target
  if (!gateways) return []
  return [
    {
      ...modelObject(target, VirtualService, gatewayRouteName(target)),
      spec: {
        hosts: hostnames ?? [serviceName(named(target))],
        gateways,
        exportTo: EVERYWHERE,
        http: httpRoutes(target),
      },
    },
  ]
}

/** The matches of the rules in their order, then all other requests by weight. */
function httpRoutes(target: TrafficTarget): HttpRoute[] {
  const { match = [], mirror } = target.rules ?? {}
  const copies = mirror && {
    mirror: destination(target, mirror.version),
    mirrorPercentage: { value: mirror.percent },
  }
  return [
    ...match.map((rule) => ({
      match: [{ headers: headerOf(rule) }],
      route: [{ destination: destination(target, rule.version) }],
    })),
    { route: destinations(target), ...copies },
  ]
}

function destinations(target: TrafficTarget): HttpDestination[] {
  return target.backends
    .filter(({ weight }) => weight > 0)
    .map(({ version, weight }) => ({ destination: destination(target, version), weight }))
}

const destination = (target: TrafficTarget, version: string): HttpDestination['destination'] => ({
  host: serviceName(named(target)),
  subset: version,
  port: { number: target.port },
})

function headerOf({ header, cookie }: MatchRule): NonNullable<HttpMatch['headers']> {
  if (header) return { [header.name.toLowerCase()]: { exact: header.value } }
  return { cookie: { regex: cookiePattern(cookie?.name ?? '', cookie?.value ?? '') } }
}

/**
 * Istio reports nothing unless configured to, so the stored route counts. A status that is behind counts too: the route
 * is then not in effect yet. An emptied route leads anywhere, and two routes that differ are still converging.
 */
function inEffect(target: TrafficTarget, observed: TrafficObserved): Weights | undefined {
  const mesh = observedOf(observed, VirtualService, routeName(target))
  const gateways = observedOf(observed, VirtualService, gatewayRouteName(target))
  const rule = observedOf(observed, DestinationRule, routeName(target))
  if (!mesh || !rule) return undefined
  const subsets = new Set(rule.spec.subsets?.map((subset) => subset.name))
  const [first, ...others] = [mesh, ...(gateways ? [gateways] : [])].map((route) => splitIn(route, subsets))
  return others.every((other) => sameJson(other && [...other], first && [...first])) ? first : undefined
}

function splitIn(service: VirtualService, subsets: ReadonlySet<string>): Weights | undefined {
  const routes = destinationsOf(service)
  if (isBehind(service) || routes.length === 0) return undefined
  const shares = routes.map((route) => [route.destination.subset ?? '', shareOf(route, routes)] as const)
  return shares.every(([subset]) => subsets.has(subset)) ? new Map(shares) : undefined
}

/** Istio sends everything to a single route without a weight. */
function shareOf({ weight = 0 }: HttpDestination, routes: readonly HttpDestination[]): number {
  return routes.length === 1 ? 100 : weight
}

function isBehind({ metadata, status }: VirtualService): boolean {
  const seen = status?.observedGeneration
  return seen !== undefined && Number(seen) < (metadata.generation ?? 0)
}

const routeName = ({ name }: TrafficTarget): string => `${name}-vs`

/** Never the name of another model's mesh route: those end in `-vs`. */
const gatewayRouteName = ({ name }: TrafficTarget): string => `${name}-vs-gateways`
