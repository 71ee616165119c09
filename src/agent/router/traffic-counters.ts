/**
 * The traffic of each version: counters, and the latencies of the latest requests. A failed attempt counts as a request and
 * an error of the version that failed, also if another version answered the request in the end.
 */
import type { VersionCounters } from '../../api/router-report.ts'
import type { EndedRequest } from './request-line.ts'

/** Enough for a p99 that is based on ten requests. */
const LATEST = 1_024

export class TrafficCounters {
  readonly #versions = new Map<string, Counted>()

  note({ version, failed, latencyMs }: EndedRequest): void {
    const counted = this.#versions.get(version) ?? new Counted()
    this.#versions.set(version, counted)
    counted.note(failed, latencyMs)
  }

  /** `total`: failed attempts that were retried, as HAProxy counts them. A lower count is a restart of the counter. */
  noteRetries(version: string, total: number): void {
    const counted = this.#versions.get(version) ?? new Counted()
    this.#versions.set(version, counted)
    counted.noteRetries(total)
  }

  /** Forgets all other versions, so that memory is bounded. */
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
  /** Failed attempts that were retried: the sum, and the last count of HAProxy. */
  #retried = 0
  #lastCount = 0
  readonly #latest: number[] = []

  noteRetries(total: number): void {
    this.#retried += total >= this.#lastCount ? total - this.#lastCount : total
    this.#lastCount = total
  }

  note(failed: boolean, latencyMs: number): void {
    this.#latest[this.#requests % LATEST] = latencyMs
    this.#requests += 1
    this.#errors += failed ? 1 : 0
    this.#latencyMsSum += latencyMs
  }

  summary(): Omit<VersionCounters, 'version' | 'weight'> {
    const counts = {
      requests: this.#requests + this.#retried,
      errors: this.#errors + this.#retried,
      latencyMsSum: this.#latencyMsSum,
    }
    if (this.#latest.length === 0) return counts
    const sorted = this.#latest.toSorted((one, other) => one - other)
    return { ...counts, latencyMsP50: quantile(sorted, 0.5), latencyMsP99: quantile(sorted, 0.99) }
  }
}

/** The smallest value that at least this share of all values does not exceed. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}
