/**
 * One catalogue of everything that can go wrong in a reconcile, and what follows from it. Errors are thrown anywhere
 * and judged in one place, the controller's error boundary, by `classify`.
 *
 * - transient: goes away by itself or by trying again.
 * - external: waits for somebody or something outside (an administrator, a quota, another system).
 * - permanent: trying the same again cannot help; the next change of the object or the next resync tries anew.
 *
 * Every code is described in docs/reference/errors.md; a test keeps the two in step.
 */
import { ApiError, ConnectionError, hasCause, isAlreadyExists } from '../kube/errors.ts'

export type ErrorClass = 'transient' | 'permanent' | 'external'

/** backoff: after a growing delay. after: when the error says so, or else by backoff. never: not by itself. */
export type RetryPolicy = 'backoff' | 'after' | 'never'

export interface ErrorEntry {
  readonly class: ErrorClass
  readonly retry: RetryPolicy
}

export const errorCatalogue = {
  // Raised by the runtime.
  ReconcileTimeout: { class: 'transient', retry: 'backoff' },
  StaleCache: { class: 'transient', retry: 'backoff' },
  NotLeading: { class: 'transient', retry: 'backoff' },
  Cancelled: { class: 'transient', retry: 'never' },
  Unexpected: { class: 'transient', retry: 'backoff' },
  // Raised by reconcilers.
  Transient: { class: 'transient', retry: 'backoff' },
  External: { class: 'external', retry: 'after' },
  Permanent: { class: 'permanent', retry: 'never' },
  // Answers of the API server.
  ApiUnreachable: { class: 'transient', retry: 'backoff' },
  ApiUnavailable: { class: 'transient', retry: 'after' },
  ApiThrottled: { class: 'transient', retry: 'after' },
  ApiConflict: { class: 'transient', retry: 'backoff' },
  ApiAlreadyExists: { class: 'transient', retry: 'backoff' },
  ApiNotFound: { class: 'transient', retry: 'backoff' },
  ApiExpired: { class: 'transient', retry: 'backoff' },
  ApiUnauthorized: { class: 'external', retry: 'backoff' },
  ApiForbidden: { class: 'external', retry: 'backoff' },
  QuotaExceeded: { class: 'external', retry: 'backoff' },
  NamespaceTerminating: { class: 'permanent', retry: 'never' },
  ApiInvalid: { class: 'permanent', retry: 'never' },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** An error that already knows its place in the catalogue. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'
  readonly code: ErrorCode
  readonly retryAfterMs?: number

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

export interface Verdict extends ErrorEntry {
  readonly code: ErrorCode
  /** Present when the error itself says when to try again. */
  readonly retryAfterMs?: number
}

/** The place of any thrown value in the catalogue. Never throws. */
export function classify(error: unknown): Verdict {
  if (error instanceof RuntimeError) return verdict(error.code, error.retryAfterMs)
  if (error instanceof ApiError) return verdict(codeOfAnswer(error), error.retryAfterMs)
  if (error instanceof ConnectionError) return verdict('ApiUnreachable')
  return verdict('Unexpected')
}

function verdict(code: ErrorCode, retryAfterMs?: number): Verdict {
  return { code, ...errorCatalogue[code], ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'ApiInvalid',
  401: 'ApiUnauthorized',
  404: 'ApiNotFound',
  405: 'ApiInvalid',
  410: 'ApiExpired',
  413: 'ApiInvalid',
  415: 'ApiInvalid',
  422: 'ApiInvalid',
  429: 'ApiThrottled',
}

function codeOfAnswer(error: ApiError): ErrorCode {
  if (error.code === 403) return codeOfRefusal(error)
  if (error.code === 409) return isAlreadyExists(error) ? 'ApiAlreadyExists' : 'ApiConflict'
  return codeOfStatus[error.code] ?? (error.code >= 500 ? 'ApiUnavailable' : 'Unexpected')
}

/** The server says 403 for three very different things; quota has no machine-readable mark but its own words. */
function codeOfRefusal(error: ApiError): ErrorCode {
  if (hasCause(error, 'NamespaceTerminating')) return 'NamespaceTerminating'
  return error.message.includes('exceeded quota') ? 'QuotaExceeded' : 'ApiForbidden'
}
