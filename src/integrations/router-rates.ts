/**
 * Makes rates of counters: two reports of a pod, some seconds apart, give what went through between them. A router that
 * has started anew, or a version that came back, counts from zero again; what it says then is all since.
 *
 * Rates are renewed once in `WINDOW_MS` and stay the same in between, however often is asked: whoever writes them into a
 * status writes no more often than that.
 */
import type { RouterReport, VersionCounters, VersionRates } from '../api/router-report.ts'

const WINDOW_MS = 10_000
/** A pod that has not been heard of for this long is forgotten. */
const FORGET_MS = 10 * 60_000

interface Flow {
  readonly version: string
  readonly requests: number
  readonly errors: number
  readonly latencyMs: number
  readonly seconds: number
}

interface Heard {
  /** Where the running window began. */
  readonly report: RouterReport
  readonly at: number
  /** Of the window before. */
  readonly flows?: readonly Flow[]
}

export class RouterRates {
  readonly #pods = new Map<string, Heard>()

  /** Of the pods that answered. Absent while none of them has been heard of for a whole window. */
  note(reports: ReadonlyMap<string, RouterReport>, now: number): ReadonlyMap<string, VersionRates> | undefined {
    for (const [uid, { at }] of this.#pods) if (now - at > FORGET_MS) this.#pods.delete(uid)
    const heard = [...reports].map(([uid, report]) => this.#hear(uid, report, now).flows)
    const flows = heard.filter((known) => known !== undefined)
    return flows.length === 0 ? undefined : ratesOf(flows.flat())
  }

  #hear(uid: string, report: RouterReport, now: number): Heard {
    const before = this.#pods.get(uid)
    if (before && now - before.at < WINDOW_MS) return before
    const heard = { report, at: now, ...(before && { flows: flowsBetween(before, report, now) }) }
    this.#pods.set(uid, heard)
    return heard
  }
}

function flowsBetween(before: Heard, { startedAt, versions }: RouterReport, now: number): Flow[] {
  const isAnew = startedAt !== before.report.startedAt
  const known = new Map(before.report.versions.map((counters) => [counters.version, counters]))
  const seconds = (now - before.at) / 1_000
  return versions.map((counters) => flow(counters, isAnew ? undefined : known.get(counters.version), seconds))
}

/** A counter that has fallen began again. */
function flow(now: VersionCounters, then: VersionCounters | undefined, seconds: number): Flow {
  const base = then && then.requests <= now.requests ? then : { requests: 0, errors: 0, latencyMsSum: 0 }
  return {
    version: now.version,
    requests: now.requests - base.requests,
    errors: Math.max(0, now.errors - base.errors),
    latencyMs: Math.max(0, now.latencyMsSum - base.latencyMsSum),
    seconds,
  }
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
    versions.set(version, { requestsPerSecond, ...(requests > 0 && perRequest) })
  }
  return versions
}
