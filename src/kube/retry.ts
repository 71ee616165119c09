/** Whether to retry a failed call, and after which delay. Pure: the sender owns the loop, the clock and the budget. */
import { ApiError, ConnectionError, hasCause, isConflict, isFieldConflict, isMalformedApply } from './errors.ts'

/** Whether a call may be repeated. */
export interface Replay {
  /** The call is idempotent, so it may be repeated after a lost response. */
  readonly repeatable: boolean
  /** The call has a resourceVersion or uid: a conflict is its result, not a reason to retry. */
  readonly conditional: boolean
}

export const MAX_ATTEMPTS = 5
const BASE_MS = 100
const CEILING_MS = 5_000

/**
 * Milliseconds until the next attempt, or undefined if the error is final. Retry-After of the server is a minimum; the
 * jitter above it keeps clients from returning at the same time.
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
    return !isFinal(error.cause) && (replay.repeatable || !error.maybeReceived)
  }
  if (!(error instanceof ApiError)) return false
  if (error.code === 429) return !hasCause(error, 'DisruptionBudget') // a result: eviction is not allowed now
  if (error.code >= 500) return replay.repeatable && error.code !== 501 && !isMalformedApply(error)
  return isConflict(error) && !isFieldConflict(error) && !replay.conditional && replay.repeatable
}

/** An untrusted certificate or an invalid request cannot succeed on a retry. */
function isFinal(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|UND_ERR_INVALID_ARG)/.test(code)
}
