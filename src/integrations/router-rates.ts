/**
 * Computes rates from the counters of routers: the difference of two reports of a pod. A restarted router, or a version
 * that was added again, counts from zero: then the counters are the difference.
 *
 * Rates change at most once per `WINDOW_MS`, however often reports are added, so that a status with rates is not written
 * more often than that.
 */
import type { TrafficReport, VersionCounters, VersionRates } from '../api/router-report.ts'

const WINDOW_MS = 10_000
/** A pod without reports for this time is forgotten. */
const FORGET_MS = 10 * 60_000

interface Flow {
  readonly version: string
  readonly requests: number
  readonly errors: number
  readonly latencyMs: number
  readonly openMs?: number
  readonly seconds: number
}

interface Window {
  /** The report at the start of the window. */
  readonly report: TrafficReport
  readonly at: number
  /** The traffic of the previous window. */
  readonly flows?: readonly Flow[]
}

export class TrafficRates {
  readonly #pods = new Map<string, Window>()

  /** Adds the reports of the pods that responded. Undefined until one of them has completed a window. */
  note(reports: ReadonlyMap<string, TrafficReport>, now: number): ReadonlyMap<string, VersionRates> | undefined {
    for (const [uid, { at }] of this.#pods) if (now - at > FORGET_MS) this.#pods.delete(uid)
    const traffic = [...reports].map(([uid, report]) => this.#update(uid, report, now).flows)
    const flows = traffic.filter((known) => known !== undefined)
    return flows.length === 0 ? undefined : ratesOf(flows.flat())
  }

  #update(uid: string, report: TrafficReport, now: number): Window {
    const before = this.#pods.get(uid)
    if (before && now - before.at < WINDOW_MS) return before
    const window = { report, at: now, ...(before && { flows: flowsBetween(before, report, now) }) }
    this.#pods.set(uid, window)
    return window
  }
}

function flowsBetween(before: Window, { startedAt, versions }: TrafficReport, now: number): Flow[] {
  const isRestarted = startedAt !== before.report.startedAt
  const known = new Map(before.report.versions.map((counters) => [counters.version, counters]))
  const seconds = (now - before.at) / 1_000
  return versions.map((counters) => flowOf(counters, isRestarted ? undefined : known.get(counters.version), seconds))
}

/** A lower counter has restarted. */
function flowOf(now: VersionCounters, then: VersionCounters | undefined, seconds: number): Flow {
  const base = then && then.requests <= now.requests ? then : { requests: 0, errors: 0, latencyMsSum: 0 }
  return {
    version: now.version,
    requests: now.requests - base.requests,
    errors: Math.max(0, now.errors - base.errors),
    latencyMs: Math.max(0, now.latencyMsSum - base.latencyMsSum),
    ...(now.openMsSum !== undefined && { openMs: openBetween(now.openMsSum, then?.openMsSum) }),
    seconds,
  }
}

const openBetween = (now: number, then = 0): number => (then <= now ? now - then : now)

/** Undefined if one of them is not counted. */
function concurrencyOf(flows: readonly Flow[]): number | undefined {
  return flows.reduce<number | undefined>((sum, { openMs, seconds }) => {
    if (sum === undefined || openMs === undefined) return undefined
    return sum + (seconds > 0 ? openMs / 1_000 / seconds : 0)
  }, 0)
}

function ratesOf(flows: readonly Flow[]): ReadonlyMap<string, VersionRates> {
  const versions = new Map<string, VersionRates>()
  for (const [version, own] of Map.groupBy(flows, (one) => one.version)) {
    const sum = (of: (one: Flow) => number): number => own.reduce((total, one) => total + of(one), 0)
    const requests = sum((one) => one.requests)
    const requestsPerSecond = sum((one) => (one.seconds > 0 ? one.requests / one.seconds : 0))
    const perRequest = {
      averageLatencyMs: sum((one) => one.latencyMs) / requests,
      errorRate: sum((one) => one.errors) / requests,
    }
    const concurrency = concurrencyOf(own)
    versions.set(version, {
      requestsPerSecond,
      proxies: own.length,
      ...(concurrency !== undefined && { concurrency }),
      ...(requests > 0 && perRequest),
    })
  }
  return versions
}
