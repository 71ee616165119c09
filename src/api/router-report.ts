/**
 * The two messages between the operator and a router replica. The operator writes a route as an annotation of the
 * replica's pod, where the agent beside HAProxy reads it as a file and changes the weights live; the agent answers
 * `GET {REPORT_PATH}` on `REPORT_PORT` with what is in effect and what went through. Nobody else can steer a router:
 * it has no port that takes orders.
 */

export const ROUTE_ANNOTATION = 'modeldeployment.ml.example.com/route'
export const REPORT_PORT = 8405
export const REPORT_PATH = '/report'

/** One version as a router sees it. */
export interface RouteEntry {
  readonly version: string
  /** `host:port` of the version's Service: an IP or a DNS name inside the namespace. */
  readonly address: string
  /** Percent. All entries of a route sum to 100. */
  readonly weight: number
}

/** What has gone to one version since the router started. Counters only grow; rates are made by who reads twice. */
export interface VersionCounters {
  readonly version: string
  /** Percent, as HAProxy itself tells it. */
  readonly weight: number
  readonly requests: number
  /** Answers of 5xx, and requests that got none. */
  readonly errors: number
  /** Sum of the times to answer, in milliseconds. */
  readonly latencyMsSum: number
  /** Of the latest requests, in milliseconds; absent before the first. */
  readonly latencyMsP50?: number
  readonly latencyMsP99?: number
}

export interface RouterReport {
  /** Milliseconds of the epoch at which the counting began: a later time than last seen means that all is counted anew. */
  readonly startedAt: number
  readonly versions: readonly VersionCounters[]
}

/** What goes to a version, all routers together, over the last while. */
export interface VersionRates {
  readonly requestsPerSecond: number
  /** Absent if nothing came. */
  readonly averageLatencyMs?: number
  /** From 0 to 1; absent if nothing came. */
  readonly errorRate?: number
}
