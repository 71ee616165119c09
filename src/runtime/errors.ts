/**
 * The catalogue of errors that can end a reconcile: class, retry policy, and whether a person has to act.
 *
 * Contract
 * - Code throws errors anywhere. `classify` is the only function that classifies them: nothing else looks at status codes or
 *   messages to decide about a retry or a report.
 * - The controller classifies every error that ends a reconcile, and logs, counts and retries it.
 * - A reconciler reports on its object exactly those errors that have `needsAction`: one event for one cause. The error is
 *   thrown on to the controller.
 *
 * Classes
 * - transient: goes away by itself or on a retry.
 * - external: waits for something outside of the operator, such as an administrator, a quota or another system.
 * - permanent: a retry cannot help. The next change of the object or the next resync tries again.
 *
 * docs/reference/errors.md describes every code; a test compares the two.
 */
import {
  ApiError,
  ConnectionError,
  hasCause,
  isAlreadyExists,
  isFieldConflict,
  isMalformedApply,
  isQuotaMessage,
} from '../kube/errors.ts'

export type ErrorClass = 'transient' | 'permanent' | 'external'

/** backoff: after a growing delay. after: when the error says, else by backoff. never: only when something changes. */
export type RetryPolicy = 'backoff' | 'after' | 'never'

export interface ErrorEntry {
  readonly class: ErrorClass
  readonly retry: RetryPolicy
  /** A person has to act: the error is reported on the object. */
  readonly needsAction: boolean
}

export const errorCatalogue = {
  // Raised by the runtime.
  ReconcileTimeout: { class: 'transient', retry: 'backoff', needsAction: false },
  StaleCache: { class: 'transient', retry: 'backoff', needsAction: false },
  NotLeading: { class: 'transient', retry: 'backoff', needsAction: false },
  Cancelled: { class: 'transient', retry: 'never', needsAction: false },
  Unexpected: { class: 'transient', retry: 'backoff', needsAction: true },
  // Raised by reconcilers.
  Transient: { class: 'transient', retry: 'backoff', needsAction: false },
  External: { class: 'external', retry: 'after', needsAction: true },
  Permanent: { class: 'permanent', retry: 'never', needsAction: true },
  // Raised by commit. A watch on the other object triggers the next attempt.
  NameConflict: { class: 'external', retry: 'never', needsAction: true },
  FieldConflict: { class: 'external', retry: 'never', needsAction: true },
  // Responses of the API server.
  ApiUnreachable: { class: 'transient', retry: 'backoff', needsAction: false },
  ApiUnavailable: { class: 'transient', retry: 'after', needsAction: false },
  ApiThrottled: { class: 'transient', retry: 'after', needsAction: false },
  ApiConflict: { class: 'transient', retry: 'backoff', needsAction: false },
  ApiAlreadyExists: { class: 'transient', retry: 'backoff', needsAction: false },
  ApiNotFound: { class: 'transient', retry: 'backoff', needsAction: false },
  ApiExpired: { class: 'transient', retry: 'backoff', needsAction: false },
  ApiUnauthorized: { class: 'external', retry: 'backoff', needsAction: true },
  ApiForbidden: { class: 'external', retry: 'backoff', needsAction: true },
  QuotaExceeded: { class: 'external', retry: 'backoff', needsAction: true },
  NamespaceTerminating: { class: 'permanent', retry: 'never', needsAction: false },
  ApiInvalid: { class: 'permanent', retry: 'never', needsAction: true },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** An error that names its own code. */
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

export interface Classification extends ErrorEntry {
  readonly code: ErrorCode
  /** Set if the error itself says when to retry. */
  readonly retryAfterMs?: number
}

/** Finds the catalogue entry of any thrown value. Never throws. */
export function classify(error: unknown): Classification {
  if (error instanceof RuntimeError) return classified(error.code, error.retryAfterMs)
  if (error instanceof ApiError) return classified(codeOfApiError(error), error.retryAfterMs)
  if (error instanceof ConnectionError) return classified('ApiUnreachable')
  return classified('Unexpected')
}

function classified(code: ErrorCode, retryAfterMs?: number): Classification {
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

function codeOfApiError(error: ApiError): ErrorCode {
  if (error.code === 403) return codeOfForbidden(error)
  if (error.code === 409) return codeOfConflict(error)
  if (isMalformedApply(error)) return 'ApiInvalid'
  return codeOfStatus[error.code] ?? (error.code >= 500 ? 'ApiUnavailable' : 'Unexpected')
}

function codeOfConflict(error: ApiError): ErrorCode {
  if (isAlreadyExists(error)) return 'ApiAlreadyExists'
  return isFieldConflict(error) ? 'FieldConflict' : 'ApiConflict'
}

/** The server answers 403 in three cases. Only the message identifies a rejection by quota. */
function codeOfForbidden(error: ApiError): ErrorCode {
  if (hasCause(error, 'NamespaceTerminating')) return 'NamespaceTerminating'
  return isQuotaMessage(error.statusMessage) ? 'QuotaExceeded' : 'ApiForbidden'
}
