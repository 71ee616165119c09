/** Exponential backoff as a pure function: without state, clock or randomness. */

export interface BackoffPolicy {
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
  /** The random share of each delay: 0 is none, 0.5 is between half and all of the delay. */
  readonly jitter: number
}

export const defaultBackoff: BackoffPolicy = { baseMs: 200, factor: 2, maxMs: 5 * 60_000, jitter: 0.5 }

/**
 * The delay before the next attempt, after `failures` failures in a row (1 for the first).
 * Always between `(1 - jitter) × ideal` and `ideal`, where `ideal = min(maxMs, baseMs × factor^(failures-1))`.
 * `random` is a number from 0 up to 1, as from `Math.random()`.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, random: number): number {
  const growth = policy.factor ** Math.max(0, failures - 1)
  const ideal = Math.min(policy.maxMs, policy.baseMs * growth)
  return ideal * (1 - policy.jitter * random)
}

/** `ms` with a uniform jitter of ± `share`. */
export function spread(ms: number, share: number, random: number): number {
  return ms * (1 - share + 2 * share * random)
}
