/**
 * A token bucket that limits the load of retries on a failing server. Every retry of any call takes a token. While the
 * bucket is empty, calls fail at the first error.
 */
export class RetryBudget {
  readonly #capacity: number
  readonly #perSecond: number
  #tokens: number
  #filledAt = 0

  constructor({ capacity = 50, perSecond = 5 }: { capacity?: number; perSecond?: number } = {}) {
    this.#capacity = capacity
    this.#perSecond = perSecond
    this.#tokens = capacity
  }

  /** False if the bucket is empty. `nowMs` is the time of any monotonic clock. */
  take(nowMs: number): boolean {
    const earned = ((nowMs - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#filledAt = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
