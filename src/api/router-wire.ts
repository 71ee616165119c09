/** Names that the configuration of Envoy and the agent next to it share. */

/** The cluster with one endpoint for each version with weight. */
export const VERSIONS_CLUSTER = 'versions'

/** The cluster of one version: for requests that a rule sends or copies to it. */
export const versionCluster = (version: string): string => `version/${version}`

/** Name of the route configuration, and prefix of its statistics. */
export const ROUTES_NAME = 'model'

/** Metadata of an endpoint: `version` under this name. */
export const VERSION_METADATA = 'ml-operator'

/** Prefix of the statistics by version. */
export const TRIES_PREFIX = 'tries'

/** Files in the directory that Envoy and the agent share. Envoy follows the three files of resources. */
export const ROUTER_FILES = {
  clusters: 'clusters.json',
  routes: 'routes.json',
  endpoints: 'endpoints.json',
  /** Envoy's administration. A Unix socket: not reachable from outside the pod. */
  socket: 'admin.sock',
  /** Its presence asks the agent to let Envoy finish its requests and exit. */
  leave: 'leave',
} as const

/** Upper bounds of the buckets of latencies, in milliseconds. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 30_000, 60_000,
  600_000,
]
