/**
 * The protocol between the operator and a router pod. The operator writes the route to an annotation of the pod. The agent
 * next to HAProxy reads it as a file and changes the weights without a reload. It returns the weights in effect and
 * the request counters at `GET {REPORT_PATH}` on `REPORT_PORT`. A router has no port that accepts changes.
 */

export const ROUTE_ANNOTATION = 'modeldeployment.ml.example.com/route'
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

/** Request counters of a version since the router started. They never decrease; readers compute rates from differences. */
export interface VersionCounters {
  readonly version: string
  /** Percent, as reported by HAProxy. */
  readonly weight: number
  /** Tries: a retried request counts once for each try. */
  readonly requests: number
  /** Tries with a 5xx response or without a response. */
  readonly errors: number
  /** Sum of the latencies in milliseconds. */
  readonly latencyMsSum: number
  /** Of recent requests, in milliseconds. Undefined before the first request. */
  readonly latencyMsP50?: number
  readonly latencyMsP99?: number
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
}
