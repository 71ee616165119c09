/**
 * When a failed call is worth repeating, and after how long. Pure: the sender owns the loop, the clock and the budget.
 */
import { ApiError, ConnectionError, hasCause, isConflict, isFieldConflict } from './errors.ts'

/** What the builder of a call knows about repeating it. */
export interface Replay {
  /** Doing it twice ends like doing it once, so a lost reply is no reason to give up. */
  readonly repeatable: boolean
  /** It carries a resourceVersion or uid: a conflict is the answer it asked for. */
  readonly conditional: boolean
}

export const MAX_ATTEMPTS = 5
const BASE_MS = 100
const CEILING_MS = 5_000

/**
 * Milliseconds to wait before the next attempt, or undefined when the error is final. What the server asks for
 * (Retry-After) is a floor, spread upwards so that everybody it sent away does not come back at the same instant.
 */
export function retryDelayMs(
  error: unknown,
  replay: Replay,
  attempt: number,
  random: () => number,
): number | undefined {
  if (attempt >= MAX_ATTEMPTS || !isRetryable(error, replay)) return undefined
  const backoff = Math.min(CEILING_MS, BASE_MS * 2 ** (attempt - 1)) * (0.5 + random() / 2)
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined
  return asked === undefined ? backoff : asked + backoff
}

export function isRetryable(error: unknown, replay: Replay): boolean {
  if (error instanceof ConnectionError) {
    return !isHopeless(error.cause) && (replay.repeatable || !error.maybeReceived)
  }
  if (!(error instanceof ApiError)) return false
  if (error.code === 429) return !hasCause(error, 'DisruptionBudget') // that one is an answer: not now
  if (error.code >= 500) return replay.repeatable && error.code !== 501
  return isConflict(error) && !isFieldConflict(error) && !replay.conditional && replay.repeatable
}

/** A certificate we do not trust, or a request that cannot be written, will be no better a second later. */
function isHopeless(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|UND_ERR_INVALID_ARG)/.test(code)
}
