/**
 * The files that Envoy follows, for a route. Pure: the same route gives the same text.
 *
 * - The endpoints of the cluster of all versions have the percentages as weights. Versions without weight are absent:
 *   Envoy accepts no weight of zero.
 * - A connection that fails is tried again for about six seconds, as long as endpoints of a dead pod may remain, at another
 *   version if there is one. A request that was sent is never sent again: one that crashes a server must not crash the next.
 */
import { createHash } from 'node:crypto'
import { cookiePattern } from '../../api/cookie-pattern.ts'
import type { MatchRule, RouteRules } from '../../api/router-report.ts'
import { upstream } from '../../api/router-upstream.ts'
import { ROUTES_NAME, VERSION_METADATA, versionCluster, VERSIONS_CLUSTER } from '../../api/router-wire.ts'

/** A version whose address is known. */
export interface Destination {
  readonly version: string
  readonly ip: string
  readonly port: number
  readonly weight: number
}

/** The resources of one file, in Envoy's terms. */
export interface Resources {
  /** Envoy reports it for the resources that it uses. */
  readonly version: string
  readonly text: string
}

const TYPES = 'type.googleapis.com/envoy.config'

/** Bodies up to this size are kept for a further try to connect, and for copies. */
const MAX_KEPT_BODY = 4 * 1024 * 1024

const RETRIES = {
  retry_on: 'connect-failure',
  num_retries: 16,
  retry_back_off: { base_interval: '0.025s', max_interval: '1s' },
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      },
    },
  ],
  host_selection_retry_max_attempts: 100,
}

export function endpointsOf(destinations: readonly Destination[]): Resources {
  return resources([
    {
      '@type': `${TYPES}.endpoint.v3.ClusterLoadAssignment`,
      ...assignment(
        VERSIONS_CLUSTER,
        destinations.filter(({ weight }) => weight > 0),
      ),
    },
  ])
}

/** What a route leads to: its versions and its rules. */
export interface Target {
  readonly destinations: readonly Destination[]
  readonly rules: RouteRules
}

/** Clusters of single versions, as far as rules need them. Those of the last target count if several have one. */
export function clustersOf(...targets: readonly Target[]): Resources {
  const found = targets.flatMap(clustersFor)
  return resources([...new Map(found.map((one) => [one.name, one])).values()])
}

function clustersFor({ destinations, rules: { mirror, match = [], stickiness } }: Target) {
  const named = new Set([...match.map(({ version }) => version), ...(mirror ? [mirror.version] : [])])
  return destinations
    .filter(({ version, weight }) => named.has(version) || (stickiness !== undefined && weight > 0))
    .map((destination) => cluster(versionCluster(destination.version), destination))
}

/** Rules in their order, then all other requests by weight. */
export function routesOf({ destinations, rules }: Target): Resources {
  const known = new Set(destinations.map(({ version }) => version))
  const { mirror, stickiness } = rules
  const common = {
    timeout: '0s',
    retry_policy: RETRIES,
    ...(mirror &&
      known.has(mirror.version) && {
        request_mirror_policies: [
          { cluster: versionCluster(mirror.version), runtime_fraction: percent(mirror.percent) },
        ],
      }),
  }
  const matches = (rules.match ?? [])
    .filter(({ version }) => known.has(version))
    .map((rule) => ({
      match: { prefix: '', headers: [headerOf(rule)] },
      route: { cluster: versionCluster(rule.version), timeout: '0s', retry_policy: RETRIES },
    }))
  const rest = stickiness
    ? { ...common, ...sticky(destinations, stickiness) }
    : { ...common, cluster: VERSIONS_CLUSTER }
  return resources([
    {
      '@type': `${TYPES}.route.v3.RouteConfiguration`,
      name: ROUTES_NAME,
      virtual_hosts: [
        {
          name: ROUTES_NAME,
          domains: ['*'],
          request_body_buffer_limit: MAX_KEPT_BODY,
          routes: [...matches, { match: { prefix: '' }, route: rest }],
        },
      ],
    },
  ])
}

function resources(list: readonly object[]): Resources {
  const body = JSON.stringify(list)
  const version = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return { version, text: `{"version_info":"${version}","resources":${body}}\n` }
}

function cluster(name: string, destination: Destination) {
  return {
    '@type': `${TYPES}.cluster.v3.Cluster`,
    name,
    ...upstream,
    type: 'STATIC',
    load_assignment: assignment(name, [{ ...destination, weight: 1 }]),
  }
}

function assignment(name: string, destinations: readonly Destination[]): object {
  const endpoints = destinations.map(({ version, ip, port, weight }) => ({
    endpoint: { address: { socket_address: { address: ip, port_value: port } } },
    load_balancing_weight: weight,
    metadata: { filter_metadata: { [VERSION_METADATA]: { version } } },
  }))
  return { cluster_name: name, endpoints: endpoints.length === 0 ? [] : [{ lb_endpoints: endpoints }] }
}

/** By the hash of a cookie or header: requests with the same value go to the same version. */
function sticky(destinations: readonly Destination[], { cookie, header }: NonNullable<RouteRules['stickiness']>) {
  const clusters = destinations
    .filter(({ weight }) => weight > 0)
    .map(({ version, weight }) => ({ name: versionCluster(version), weight }))
  const policy = cookie === undefined ? { header: { header_name: header ?? '' } } : { cookie: { name: cookie } }
  return { hash_policy: [policy], weighted_clusters: { clusters, use_hash_policy: true } }
}

const percent = (value: number): object => ({ default_value: { numerator: value, denominator: 'HUNDRED' } })

function headerOf({ header, cookie }: MatchRule): object {
  if (header) return { name: header.name, string_match: { exact: header.value } }
  const regex = cookiePattern(cookie?.name ?? '', cookie?.value ?? '')
  return { name: 'cookie', string_match: { safe_regex: { regex } } }
}
