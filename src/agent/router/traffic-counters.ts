/**
 * The traffic of each version: counters that never decrease, and quantiles of recent requests. Envoy counts since its own
 * start, so a lower count is a restart of Envoy. What was counted before this process started is left out.
 */
import type { VersionCounters } from '../../api/router-report.ts'
import type { Totals } from './statistics.ts'

/** Quantiles cover the time since the second last multiple of this. */
const WINDOW_MS = 30_000

const NONE: Totals = { requests: 0, errors: 0, latencyMsSum: 0, buckets: new Map() }

export class TrafficCounters {
  readonly #versions = new Map<string, Counted>()
  #isStarted = false

  /** `totals` is everything that Envoy lists. */
  note(totals: ReadonlyMap<string, Totals>, now: number): void {
    for (const version of new Set([...totals.keys(), ...this.#versions.keys()])) {
      const total = totals.get(version) ?? NONE
      const counted = this.#versions.get(version)
      if (counted) counted.note(total, now)
      else this.#versions.set(version, new Counted(total, this.#isStarted ? total : NONE, now))
    }
    this.#isStarted = true
  }

  of(version: string): Omit<VersionCounters, 'version' | 'weight'> {
    return this.#versions.get(version)?.summary() ?? { requests: 0, errors: 0, latencyMsSum: 0 }
  }
}

class Counted {
  #last: Totals
  #sum: Totals
  /** The sums at the start of the window, and in its middle. */
  #windows: readonly { readonly at: number; readonly sum: Totals }[]

  constructor(last: Totals, sum: Totals, now: number) {
    this.#last = last
    this.#sum = sum
    this.#windows = [{ at: now, sum: NONE }]
  }

  note(total: Totals, now: number): void {
    const base = total.requests < this.#last.requests ? NONE : this.#last
    this.#sum = combine(this.#sum, combine(total, base, -1), 1)
    this.#last = total
    if (now - (this.#windows.at(-1)?.at ?? 0) >= WINDOW_MS)
      this.#windows = [...this.#windows, { at: now, sum: this.#sum }].slice(-2)
  }

  summary(): Omit<VersionCounters, 'version' | 'weight'> {
    const { requests, errors, latencyMsSum, buckets } = this.#sum
    const counts = { requests, errors, latencyMsSum }
    if (requests === 0) return counts
    const before = this.#windows[0]?.sum ?? NONE
    const recent = combine(this.#sum, before, -1).buckets
    const shown = (recent.get(Infinity) ?? 0) > 0 ? recent : buckets
    const latencyBuckets = [...buckets]
      .filter(([bound]) => Number.isFinite(bound))
      .toSorted(([one], [other]) => one - other)
      .map(([leMs, count]) => ({ leMs, count }))
    return { ...counts, latencyBuckets, ...quantiles(shown) }
  }
}

function combine(one: Totals, other: Totals, sign: 1 | -1): Totals {
  const bounds = new Set([...one.buckets.keys(), ...other.buckets.keys()])
  const sum = (a: number, b: number): number => Math.max(0, a + sign * b)
  return {
    requests: sum(one.requests, other.requests),
    errors: sum(one.errors, other.errors),
    latencyMsSum: sum(one.latencyMsSum, other.latencyMsSum),
    buckets: new Map(
      [...bounds].map((bound) => [bound, sum(one.buckets.get(bound) ?? 0, other.buckets.get(bound) ?? 0)]),
    ),
  }
}

function quantiles(buckets: ReadonlyMap<number, number>): Pick<VersionCounters, 'latencyMsP50' | 'latencyMsP99'> {
  const sorted = [...buckets].toSorted(([one], [other]) => one - other)
  if ((sorted.at(-1)?.[1] ?? 0) === 0) return {}
  return { latencyMsP50: quantile(sorted, 0.5), latencyMsP99: quantile(sorted, 0.99) }
}

/** As Prometheus computes it: values are spread evenly in their bucket; beyond the last bound, it is the bound. */
function quantile(sorted: readonly (readonly [bound: number, count: number])[], part: number): number {
  const rank = part * (sorted.at(-1)?.[1] ?? 0)
  const index = sorted.findIndex(([, count]) => count >= rank)
  const [bound = 0, count = 0] = sorted[index] ?? []
  const [lower = 0, below = 0] = sorted[index - 1] ?? []
  if (!Number.isFinite(bound)) return lower
  return count === below ? bound : lower + ((bound - lower) * (rank - below)) / (count - below)
}
