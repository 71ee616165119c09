import type { Cancel, Clock } from './clock.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that moves only by `advance`. Timers fire in the order of their time, then of their creation. */
export class FakeClock implements Clock {
  #elapsed = 0
  #started: number
  readonly #timers = new Set<Timer>()

  constructor(startedAt = Date.UTC(2030, 0, 1)) {
    this.#started = startedAt
  }

  now(): number {
    return this.#started + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  /** Changes only the wall-clock time, as an administrator or NTP may do. */
  jumpWallClock(ms: number): void {
    this.#started += ms
  }

  setTimeout(callback: () => void, ms: number): Cancel {
    const timer = { at: this.#elapsed + Math.max(ms, 0), callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Fires all timers that become due, also those that they set meanwhile. */
  advance(ms: number): void {
    const until = this.#elapsed + ms
    for (let next = this.#nextDue(until); next; next = this.#nextDue(until)) {
      this.#timers.delete(next)
      this.#elapsed = Math.max(this.#elapsed, next.at)
      next.callback()
    }
    this.#elapsed = until
  }

  #nextDue(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) if (timer.at <= until && (!first || timer.at < first.at)) first = timer
    return first
  }
}
