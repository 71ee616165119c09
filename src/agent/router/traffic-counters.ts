/** What went to each version: counters that only grow, and the latencies of the latest requests. */
import type { VersionCounters } from '../../api/router-report.ts'
import type { EndedRequest } from './request-line.ts'

/** Enough for a p99 that ten requests stand behind. */
const LATEST = 1_024

export class TrafficCounters {
  readonly #versions = new Map<string, Counted>()

  note({ version, failed, latencyMs }: EndedRequest): void {
    const counted = this.#versions.get(version) ?? new Counted()
    this.#versions.set(version, counted)
    counted.note(failed, latencyMs)
  }

  /** Forgets all others: versions come and go for as long as a router lives. */
  keepOnly(versions: ReadonlySet<string>): void {
    for (const version of this.#versions.keys()) if (!versions.has(version)) this.#versions.delete(version)
  }

  of(version: string): Omit<VersionCounters, 'version' | 'weight'> {
    return (this.#versions.get(version) ?? new Counted()).summary()
  }
}

class Counted {
  #requests = 0
  #errors = 0
  #latencyMsSum = 0
  readonly #latest: number[] = []

  note(failed: boolean, latencyMs: number): void {
    this.#latest[this.#requests % LATEST] = latencyMs
    this.#requests += 1
    this.#errors += failed ? 1 : 0
    this.#latencyMsSum += latencyMs
  }

  summary(): Omit<VersionCounters, 'version' | 'weight'> {
    const counts = { requests: this.#requests, errors: this.#errors, latencyMsSum: this.#latencyMsSum }
    if (this.#latest.length === 0) return counts
    const sorted = this.#latest.toSorted((one, other) => one - other)
    return { ...counts, latencyMsP50: quantile(sorted, 0.5), latencyMsP99: quantile(sorted, 0.99) }
  }
}

/** The smallest value that at least this part of all does not exceed. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}
