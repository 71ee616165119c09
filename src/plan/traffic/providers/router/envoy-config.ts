/**
 * The configuration of the router's Envoy. The same for every model: the agent writes versions, weights and rules to files
 * that Envoy follows, so this one never changes while Envoy runs, and no port accepts changes.
 *
 * - Administration is a Unix socket in the directory that Envoy shares with the agent.
 * - One endpoint per version, weighted round robin, in one thread: the split is exact. Several threads would each split on
 *   their own.
 * - Every request has a connection of its own to the version: requests, not connections, are spread over its pods, and new
 *   pods get their share at once.
 * - Each try is counted for the version that it went to, with its status, flags and duration.
 * - A server that ends without a response gives 502, as with other proxies. 503 means that no connection was made.
 */
import { upstream } from '../../../../api/router-upstream.ts'
import {
  LATENCY_BOUNDS_MS,
  ROUTER_FILES,
  ROUTES_NAME,
  TRIES_PREFIX,
  VERSION_METADATA,
  VERSIONS_CLUSTER,
} from '../../../../api/router-wire.ts'

/** Where Envoy listens. Unprivileged. */
export const ROUTER_PORT = 8080

/** The directory that Envoy and the agent share. */
export const ROUTER_DIRECTORY = '/run/router'

export interface EnvoySettings {
  readonly port: number
  readonly directory: string
  /** Where to listen. Default: everywhere. */
  readonly host?: string
}

const TYPES = 'type.googleapis.com/envoy.extensions'

/** Connections of clients at most. Bounds the memory. */
const MAX_CONNECTIONS = 4_000

export function envoyConfig(settings: EnvoySettings = { port: ROUTER_PORT, directory: ROUTER_DIRECTORY }): string {
  const { directory } = settings
  return JSON.stringify(
    {
      node: { id: 'router', cluster: 'router' },
      admin: { address: { pipe: { path: `${directory}/${ROUTER_FILES.socket}`, mode: 0o600 } } },
      stats_flush_interval: '0.5s',
      stats_config: statistics,
      overload_manager: connectionLimit,
      dynamic_resources: { cds_config: followed(directory, ROUTER_FILES.clusters) },
      static_resources: { listeners: [listener(settings)], clusters: [versions(directory)] },
    },
    undefined,
    1,
  )
}

/** A file that Envoy reads again whenever it is replaced. */
const followed = (directory: string, file: string): object => ({
  path_config_source: { path: `${directory}/${file}` },
  resource_api_version: 'V3',
})

/** Only what the agent reads: fewer statistics take less memory. */
const statistics = {
  stats_matcher: {
    inclusion_list: {
      patterns: [
        { prefix: `${TRIES_PREFIX}.` },
        { suffix: '.version_text' },
        { suffix: '.update_rejected' },
        { exact: `http.${ROUTES_NAME}.downstream_rq_active` },
      ],
    },
  },
  histogram_bucket_settings: [{ match: { safe_regex: { regex: '.*' } }, buckets: LATENCY_BOUNDS_MS }],
}

const connectionLimit = {
  resource_monitors: [
    {
      name: 'envoy.resource_monitors.global_downstream_max_connections',
      typed_config: {
        '@type': `${TYPES}.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig`,
        max_active_downstream_connections: MAX_CONNECTIONS,
      },
    },
  ],
}

function listener({ port, directory, host = '::' }: EnvoySettings): object {
  const address = { address: host, port_value: port, ...(host === '::' && { ipv4_compat: true }) }
  return {
    name: ROUTES_NAME,
    address: { socket_address: address },
    filter_chains: [{ filters: [{ name: 'http', typed_config: httpConnections(directory) }] }],
  }
}

function httpConnections(directory: string): object {
  return {
    '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: ROUTES_NAME,
    rds: { route_config_name: ROUTES_NAME, config_source: followed(directory, ROUTER_FILES.routes) },
    // Requests of clients must not set retries or timeouts with headers of Envoy.
    use_remote_address: true,
    skip_xff_append: true,
    internal_address_config: {},
    generate_request_id: false,
    server_header_transformation: 'PASS_THROUGH',
    stream_idle_timeout: '600s',
    request_headers_timeout: '60s',
    common_http_protocol_options: { idle_timeout: '60s' },
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    local_reply_config: {
      mappers: [{ filter: { response_flag_filter: { flags: ['UC', 'UPE', 'UR'] } }, status_code: 502 }],
    },
    http_filters: [
      {
        name: 'router',
        typed_config: {
          '@type': `${TYPES}.filters.http.router.v3.Router`,
          suppress_envoy_headers: true,
          upstream_log: [{ name: 'tries', typed_config: tries }],
        },
      },
    ],
  }
}

const VERSION_TAG = { name: 'version', value_format: `%METADATA(UPSTREAM_HOST:${VERSION_METADATA}:version)%` }

const tries = {
  '@type': `${TYPES}.access_loggers.stats.v3.Config`,
  stat_prefix: TRIES_PREFIX,
  counters: [
    {
      stat: {
        name: 'ended',
        tags: [
          VERSION_TAG,
          { name: 'code', value_format: '%RESPONSE_CODE%' },
          { name: 'flags', value_format: '%RESPONSE_FLAGS%' },
        ],
      },
      value_fixed: 1,
    },
    { stat: { name: 'ms', tags: [VERSION_TAG] }, value_format: '%DURATION%' },
  ],
  histograms: [{ stat: { name: 'latency', tags: [VERSION_TAG] }, unit: 'Milliseconds', value_format: '%DURATION%' }],
}

function versions(directory: string): object {
  return {
    ...upstream,
    name: VERSIONS_CLUSTER,
    type: 'EDS',
    eds_cluster_config: { service_name: VERSIONS_CLUSTER, eds_config: followed(directory, ROUTER_FILES.endpoints) },
  }
}
