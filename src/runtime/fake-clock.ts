import type { Cancel, Clock } from './clock.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that stands still until `advance` moves it. Timers fire in order of their time, then of their creation. */
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

  /** Moves the wall clock alone, as an administrator or NTP would. */
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

  /** Fires everything that falls due, also what those timers schedule within the same span. */
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
