import type { Clock } from './clock.ts'

interface Entry<V> {
  readonly value: V
  readonly until: number
}

/** Values that are valid for some time. Holds at most `max`; the oldest ones make room. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #clock: Clock
  readonly #max: number

  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry && entry.until > this.#clock.monotonic()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: V, forMs: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#clock.monotonic() + forMs })
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#max) return
      this.#entries.delete(oldest)
    }
  }
}
