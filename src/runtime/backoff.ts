/** Exponential backoff as a pure function: no state, no clock, no randomness of its own. */

export interface BackoffPolicy {
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
  /** The share of each delay that is left to chance: 0 none, 0.5 between half the delay and all of it. */
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

/** `ms` spread evenly by ± `share`, so that many of a kind do not move in step. */
export function spread(ms: number, share: number, random: number): number {
  return ms * (1 - share + 2 * share * random)
}
