/**
 * A token bucket that bounds how much retries may add to the load of a server in trouble. Every retry takes a token,
 * whatever its call; an empty bucket means errors surface at once, until time has put some back.
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

  /** False when the budget is spent. `nowMs` is any clock that never goes back. */
  take(nowMs: number): boolean {
    const earned = ((nowMs - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#filledAt = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
