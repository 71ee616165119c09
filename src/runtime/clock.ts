/**
 * Time, injected. Nothing else in this folder reads a clock or sets a timer, so every test that depends on time
 * can drive it by hand (see `FakeClock`).
 */

export interface Clock {
  /** Wall-clock milliseconds since the epoch: only for timestamps that people read. It may jump. */
  now(): number
  /** Milliseconds that only grow, also while the process is stopped: the one to measure durations with. */
  monotonic(): number
  /** Runs `callback` once after `ms`; the returned function cancels it. */
  setTimeout(callback: () => void, ms: number): Cancel
}

export type Cancel = () => void

/** Node clamps longer delays to one millisecond; we clamp them to the longest that it can wait instead. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, ms) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or at once when the signal aborts: the caller looks at the signal, nothing is thrown. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = (): void => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.setTimeout(wake, ms)
    signal?.addEventListener('abort', wake, { once: true })
  })
}

/** What the promise resolves to, or undefined if that takes longer than `ms`. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const cancel = clock.setTimeout(() => late.resolve(undefined), ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}

/** The moment as the API server writes it in conditions: RFC 3339 with whole seconds. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
}
