/**
 * Injected time. No other module of src/runtime reads the time or sets a timer, so that tests can control both with a
 * `FakeClock`. `src/source-rules.test.ts` checks it.
 */

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch: only for timestamps. It may jump. */
  now(): number
  /** Monotonic time in milliseconds, for durations. It also advances while the process is stopped. */
  monotonic(): number
  /** Calls `callback` once after `ms`. The returned function cancels it. */
  setTimeout(callback: () => void, ms: number): Cancel
}

export type Cancel = () => void

/** Longer delays would fire after one millisecond in Node, so they are shortened to this maximum. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, ms) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), MAX_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or as soon as the signal aborts. Never throws: the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
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

/** Resolves like the promise, or to undefined after `ms`. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const cancel = clock.setTimeout(() => late.resolve(undefined), ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}
