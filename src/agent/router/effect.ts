/** What Envoy routes by: its own account of the configuration in use. */
import { ROUTES_NAME, VERSION_METADATA, VERSIONS_CLUSTER } from '../../api/router-wire.ts'

export interface Effect {
  /** Percent of new requests by version. Empty: there is no route. */
  readonly weights: ReadonlyMap<string, number>
  /** Version of the resources of the routes and the clusters. */
  readonly routes?: string | undefined
  readonly clusters?: string | undefined
}

export const SHOW_CONFIG = '/config_dump?include_eds'

/** More than a route can have: a response with more is not used. */
const MAX_ENDPOINTS = 1_000

/** The parts of the response that are read. Anything may be missing. */
interface Dump {
  readonly configs?: readonly Config[]
}

interface Config {
  readonly '@type'?: string
  readonly version_info?: string
  readonly dynamic_route_configs?: readonly {
    readonly version_info?: string
    readonly route_config?: { readonly name?: string; readonly virtual_hosts?: readonly VirtualHost[] }
  }[]
  readonly dynamic_endpoint_configs?: readonly { readonly endpoint_config?: Assignment }[]
  readonly static_endpoint_configs?: readonly { readonly endpoint_config?: Assignment }[]
}

interface VirtualHost {
  readonly routes?: readonly { readonly route?: RouteAction }[]
}

interface RouteAction {
  readonly cluster?: string
  readonly weighted_clusters?: { readonly clusters?: readonly { readonly name?: string; readonly weight?: number }[] }
}

interface Assignment {
  readonly cluster_name?: string
  readonly endpoints?: readonly { readonly lb_endpoints?: readonly Endpoint[] }[]
}

interface Endpoint {
  readonly load_balancing_weight?: number
  readonly metadata?: { readonly filter_metadata?: Readonly<Record<string, { readonly version?: unknown }>> }
}

/** Fails for a response that is not an account of the configuration. */
export function parseEffect(response: string): Effect {
  try {
    return effectIn(response)
  } catch (error) {
    throw new Error(`Envoy gives no account of its configuration: ${String(error)}`, { cause: error })
  }
}

function effectIn(response: string): Effect {
  const { configs } = (JSON.parse(response) ?? {}) as Dump
  if (!Array.isArray(configs)) throw new Error('Envoy lists no configuration')
  const listed: readonly Config[] = configs
  const of = (kind: string): Config => listed.find((config) => config?.['@type']?.endsWith(`.${kind}`)) ?? {}
  const { routes, last } = routesIn(of('RoutesConfigDump'))
  const shares = last.weighted_clusters ? sticky(last) : endpoints(of('EndpointsConfigDump'))
  return { weights: percentages(shares), routes, clusters: of('ClustersConfigDump').version_info }
}

/** The last route is the one for requests that no rule matches. */
function routesIn({ dynamic_route_configs = [] }: Config): { readonly routes?: string; readonly last: RouteAction } {
  const found = dynamic_route_configs.find(({ route_config }) => route_config?.name === ROUTES_NAME)
  const last = found?.route_config?.virtual_hosts?.[0]?.routes?.at(-1)?.route ?? {}
  return { last, ...(found?.version_info !== undefined && { routes: found.version_info }) }
}

type Share = readonly [version: unknown, weight: unknown]

function endpoints({ dynamic_endpoint_configs = [], static_endpoint_configs = [] }: Config): Share[] {
  const configs = [...dynamic_endpoint_configs, ...static_endpoint_configs]
  const found = configs.find(({ endpoint_config }) => endpoint_config?.cluster_name === VERSIONS_CLUSTER)
  const listed = (found?.endpoint_config?.endpoints ?? []).flatMap(({ lb_endpoints = [] }) => lb_endpoints)
  if (listed.length > MAX_ENDPOINTS) throw new Error(`Envoy lists ${listed.length} endpoints: too many`)
  return listed.map(({ metadata, load_balancing_weight = 1 }) => [
    metadata?.filter_metadata?.[VERSION_METADATA]?.version,
    load_balancing_weight,
  ])
}

function sticky({ weighted_clusters }: RouteAction): Share[] {
  return (weighted_clusters?.clusters ?? []).map(({ name, weight = 0 }) => [name?.split('/')[1], weight])
}

function percentages(shares: readonly Share[]): ReadonlyMap<string, number> {
  const valid = shares.filter(
    (share): share is readonly [string, number] =>
      typeof share[0] === 'string' && typeof share[1] === 'number' && Number.isFinite(share[1]) && share[1] >= 0,
  )
  const total = valid.reduce((sum, [, weight]) => sum + weight, 0)
  return new Map(valid.map(([version, weight]) => [version, total === 0 ? 0 : (weight * 100) / total]))
}
