/**
 * Which metric APIs the cluster has, by discovery, which every client may read. An API counts as missing only if two answers
 * in a row say so: one replica of the API server may not know it yet. A failed request changes nothing.
 */
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { METRIC_APIS } from '../plan/serving/index.ts'
import { type Clock, pause } from '../runtime/index.ts'

export interface MetricApisDeps {
  readonly client: Pick<Client, 'request'>
  readonly clock: Clock
  /** How often to ask. */
  readonly pollMs?: number
}

const POLL_MS = 30_000
/** Between two answers that an API is missing. */
const CONFIRM_MS = 1_000

export class MetricApis {
  readonly #deps: MetricApisDeps
  #known: ReadonlySet<string> | undefined
  #askedAt = -Infinity
  #asking: Promise<void> | undefined

  constructor(deps: MetricApisDeps) {
    this.#deps = deps
  }

  /** The groups that are there. Waits only for the first answer; undefined if there was none. */
  async read(): Promise<ReadonlySet<string> | undefined> {
    const { clock, pollMs = POLL_MS } = this.#deps
    if (clock.monotonic() - this.#askedAt >= pollMs)
      this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    if (!this.#known) await this.#asking
    return this.#known
  }

  async #ask(): Promise<void> {
    const { clock, pollMs = POLL_MS } = this.#deps
    const groups = Object.values(METRIC_APIS)
    const first = await this.#present(groups)
    const missing = groups.filter((group) => !first?.has(group) && (this.#known?.has(group) ?? true))
    if (first && missing.length > 0) await pause(clock, Math.min(pollMs, CONFIRM_MS))
    const second = first && missing.length > 0 ? await this.#present(missing) : new Set<string>()
    this.#askedAt = clock.monotonic()
    if (first && second) this.#known = new Set([...first, ...second])
  }

  /** Undefined if a request failed. */
  async #present(groups: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    try {
      const answers = await Promise.all(groups.map((group) => this.#isPresent(group)))
      return new Set(groups.filter((_, index) => answers[index]))
    } catch {
      return undefined
    }
  }

  async #isPresent(group: string): Promise<boolean> {
    try {
      await this.#deps.client.request({ method: 'GET', path: `/apis/${group}` })
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }
}
