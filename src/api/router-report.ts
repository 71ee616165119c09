/**
 * The protocol between the operator and a router pod. The operator writes the route to an annotation of the pod. The agent
 * next to Envoy reads it as a file and changes the weights without a reload. It returns the weights in effect and
 * the request counters at `GET {REPORT_PATH}` on `REPORT_PORT`. A router has no port that accepts changes.
 */

export const ROUTE_ANNOTATION = 'modeldeployment.ml.example.com/route'
/** Role of the pods of a model that split its traffic, in their label. */
export const PROXY_ROLE = 'router'
export const REPORT_PORT = 8405
export const REPORT_PATH = '/report'

/** A version in a route. */
export interface RouteEntry {
  readonly version: string
  /** `host:port` of the version's Service: an IP address or a DNS name in the namespace. */
  readonly address: string
  /** Percent. All entries of a route sum to 100. */
  readonly weight: number
}

/** Requests with this header or cookie go to the version, whatever its weight. Exactly one of both is set. */
export interface MatchRule {
  readonly version: string
  readonly header?: { readonly name: string; readonly value: string }
  readonly cookie?: { readonly name: string; readonly value: string }
}

/** What a route has beside weights. */
export interface RouteRules {
  /** The version gets copies of this percentage of the requests that weights split. Its responses are discarded. */
  readonly mirror?: { readonly version: string; readonly percent: number }
  /** The first that matches counts. */
  readonly match?: readonly MatchRule[]
  /** Requests with the same cookie or header go to the same version, as long as the weights stay. Exactly one is set. */
  readonly stickiness?: {
    readonly cookie?: string
    readonly header?: string
  }
}

/** A route as it is written: only its versions, or an object if it has rules. */
export type RouteDocument = readonly RouteEntry[] | (RouteRules & { readonly versions: readonly RouteEntry[] })

/** The versions in the text of a route. */
export function entriesOf(text: string): readonly RouteEntry[] {
  const route = JSON.parse(text) as RouteDocument
  return 'versions' in route ? route.versions : route
}

/** A bucket of latencies: requests that took at most this time. */
export interface LatencyBucket {
  readonly leMs: number
  readonly count: number
}

/** Request counters of a version since the router started. They never decrease; readers compute rates from differences. */
export interface VersionCounters {
  readonly version: string
  /** Percent, as reported by Envoy. */
  readonly weight: number
  /** Tries: a retried request counts once for each try. Copies of requests count too. */
  readonly requests: number
  /** Tries with a 5xx response or without a response. */
  readonly errors: number
  /** Sum of the latencies in milliseconds. */
  readonly latencyMsSum: number
  /** By ascending bounds; each count includes those before. Requests above the last bound are in `requests` only. */
  readonly latencyBuckets?: readonly LatencyBucket[]
  /** Of recent requests, in milliseconds. Undefined before the first request. */
  readonly latencyMsP50?: number
  readonly latencyMsP99?: number
  /** Sum over time of the requests in progress, in milliseconds: its rate is their average number. Absent: not counted. */
  readonly openMsSum?: number
}

export interface RouterReport {
  /** Start of counting, in milliseconds since the epoch. A later value than before means that the counters were reset. */
  readonly startedAt: number
  readonly versions: readonly VersionCounters[]
}

/** The same report, for code that serves every provider: any proxy may answer with one. */
export type TrafficReport = RouterReport

/** Recent traffic of a version through all routers. */
export interface VersionRates {
  readonly requestsPerSecond: number
  /** Undefined without requests. */
  readonly averageLatencyMs?: number
  /** From 0 to 1. Undefined without requests. */
  readonly errorRate?: number
  /** Average number of requests in progress. Undefined if a router does not count them. */
  readonly concurrency?: number
  /** Number of routers whose requests are included. */
  readonly proxies?: number
}
