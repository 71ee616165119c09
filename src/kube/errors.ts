/**
 * A call to the API server fails in two ways: the server rejects it (`ApiError`), or there is no response
 * (`ConnectionError`). An aborted call throws the reason of the abort signal, so that callers can distinguish their own abort
 * from a failure.
 */

/** Details of a rejection, as the server sent them. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  readonly retryAfterSeconds?: number
}

/** The `v1` Status of every rejection and of every ERROR event of a watch. */
export interface Status {
  readonly kind?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: StatusDetails
}

export interface RequestName {
  readonly verb: string
  readonly path: string
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status. */
  readonly code: number
  /** The reason of the Status, such as `NotFound`, `AlreadyExists`, `Conflict` or `Expired`. */
  readonly reason: string
  /** The message of the Status, without the request. */
  readonly statusMessage: string
  readonly details?: StatusDetails
  /** Retry-After of the server. */
  readonly retryAfterMs?: number
  readonly request: RequestName

  /** Checks the types of all fields: a gateway may send a different Status. */
  constructor(status: Status & { readonly code: number }, request: RequestName, retryAfterMs?: number) {
    const reason = parseText(status.reason) ?? reasonOf(status.code)
    const message = parseText(status.message)
    super(`${request.verb} ${request.path}: ${status.code} ${reason}: ${message ?? 'no message'}`)
    this.code = status.code
    this.reason = reason
    this.request = requestName(request)
    this.statusMessage = message ?? reason
    const details = parseDetails(status.details)
    if (details) this.details = details
    const asked = retryAfterMs ?? secondsToMs(details?.retryAfterSeconds)
    if (asked !== undefined) this.retryAfterMs = Math.min(asked, MAX_RETRY_AFTER_MS)
  }
}

/** No complete response: connection refused, reset, timed out or closed early. `cause` is the error of the transport. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly request: RequestName
  /** False only if the request certainly did not reach the server, so that a repetition is safe. */
  readonly maybeReceived: boolean

  constructor(request: RequestName, cause: unknown, maybeReceived = true) {
    super(`${request.verb} ${request.path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.request = requestName(request)
    this.maybeReceived = maybeReceived
  }
}

export const isNotFound = (error: unknown): error is ApiError => hasCode(error, 404)
export const isInvalid = (error: unknown): error is ApiError => hasCode(error, 422)

/** The server no longer has the requested `resourceVersion`: list again. */
export const isExpired = (error: unknown): error is ApiError => hasCode(error, 410)

export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasCode(error, 409) && error.reason === 'AlreadyExists'

/** The object has changed since it was read, or another manager owns the field (see `isFieldConflict`). */
export const isConflict = (error: unknown): error is ApiError => hasCode(error, 409) && error.reason !== 'AlreadyExists'

/** A server-side apply touches fields of another manager: a retry cannot help. */
export const isFieldConflict = (error: unknown): error is ApiError =>
  isConflict(error) && hasCause(error, 'FieldManagerConflict')

/** A patch with a uid found another object of that name: the server reports an attempt to change the uid. */
export const isOtherUid = (error: unknown): error is ApiError =>
  isInvalid(error) && (error.details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false)

/** The precondition of a delete does not match. Only the message shows it; no object name can contain this text. */
export const isPreconditionFailed = (error: unknown): error is ApiError =>
  isConflict(error) && /Precondition failed: | in the precondition \(/.test(error.statusMessage)

/** A PodDisruptionBudget does not allow the eviction now. */
export const isBudgetExhausted = (error: unknown): error is ApiError =>
  hasCode(error, 429) && hasCause(error, 'DisruptionBudget')

/** Whether a rejection is by a ResourceQuota. Only the message shows it. */
export const isQuotaMessage = (message: string): boolean => message.includes('exceeded quota')

/**
 * Whether an apply does not fit the schema of its kind: it has an unknown field or a value of the wrong type. The server
 * answers 500, but a repetition cannot succeed.
 */
export const isMalformedApply = ({ code, statusMessage }: ApiError): boolean =>
  code === 500 && statusMessage.startsWith('failed to create typed patch object')

export function hasCause(error: ApiError, reason: string): boolean {
  return error.details?.causes?.some((cause) => cause.reason === reason) ?? false
}

/** Drops the body, which may contain secrets: errors are logged. */
function requestName({ verb, path }: RequestName): RequestName {
  return { verb, path }
}

function hasCode(error: unknown, code: number): error is ApiError {
  return error instanceof ApiError && error.code === code
}

/** The reason that Kubernetes uses for a code, for responses without a Status, such as those of a proxy. */
function reasonOf(code: number): string {
  const reasons: Record<number, string> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    410: 'Expired',
    413: 'RequestEntityTooLarge',
    422: 'Invalid',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  }
  return reasons[code] ?? 'Unknown'
}

/** A longer wait is a mistake, and timers overflow. */
const MAX_RETRY_AFTER_MS = 3_600_000

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined || !(seconds >= 0) ? undefined : seconds * 1000
}

function parseText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function parseDetails(value: unknown): StatusDetails | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { causes, retryAfterSeconds, ...rest } = value as Readonly<Record<string, unknown>>
  const isObject = (cause: unknown): cause is object => typeof cause === 'object' && cause !== null
  return {
    ...rest,
    ...(Array.isArray(causes) && { causes: causes.filter(isObject) }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  }
}
