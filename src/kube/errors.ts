/**
 * The two ways a call to the API server fails: the server answered with a refusal (`ApiError`), or no answer
 * came (`ConnectionError`). An aborted call throws the abort signal's own reason, so a caller that gave up can
 * tell its own decision from a fault.
 */

/** What the server may add to a refusal; raw, as sent. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  readonly retryAfterSeconds?: number
}

/** The `v1` Status object that accompanies every refusal and every ERROR event of a watch. */
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
  /** The machine-readable word of the Status, such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`. */
  readonly reason: string
  readonly details?: StatusDetails
  /** How long the server asked us to stay away. */
  readonly retryAfterMs?: number
  readonly request: RequestName

  constructor(status: Status & { readonly code: number }, request: RequestName, retryAfterMs?: number) {
    const reason = status.reason ?? reasonOf(status.code)
    super(`${request.verb} ${request.path}: ${status.code} ${reason}: ${status.message ?? 'no message'}`)
    this.code = status.code
    this.reason = reason
    this.request = nameOf(request)
    if (status.details) this.details = status.details
    const asked = retryAfterMs ?? secondsToMs(status.details?.retryAfterSeconds)
    if (asked !== undefined) this.retryAfterMs = asked
  }
}

/** No answer: refused, reset, timed out, or cut off midway. `cause` keeps the transport's own error. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly request: RequestName
  /** False when the request certainly never reached the server, so that repeating it cannot do anything twice. */
  readonly maybeReceived: boolean

  constructor(request: RequestName, cause: unknown, maybeReceived = true) {
    super(`${request.verb} ${request.path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.request = nameOf(request)
    this.maybeReceived = maybeReceived
  }
}

export const isNotFound = (error: unknown): error is ApiError => hasCode(error, 404)
export const isForbidden = (error: unknown): error is ApiError => hasCode(error, 403)
export const isInvalid = (error: unknown): error is ApiError => hasCode(error, 422)

/** The `resourceVersion` asked for is no longer kept: whoever relies on it must list again. */
export const isExpired = (error: unknown): error is ApiError => hasCode(error, 410)

export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasCode(error, 409) && error.reason === 'AlreadyExists'

/** Someone else changed the object (or owns the field, see `isFieldConflict`) since it was read. */
export const isConflict = (error: unknown): error is ApiError => hasCode(error, 409) && error.reason !== 'AlreadyExists'

/** A server-side apply met fields that belong to another manager: repeating it cannot help. */
export const isFieldConflict = (error: unknown): error is ApiError =>
  isConflict(error) && hasCause(error, 'FieldManagerConflict')

/** A patch that named a uid met another object of that name: the server takes it for an attempt to change the uid. */
export const isOtherUid = (error: unknown): error is ApiError =>
  isInvalid(error) && (error.details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false)

/** A delete that named a uid or a version met another: the server has only words for it. */
export const isPreconditionFailed = (error: unknown): error is ApiError =>
  isConflict(error) && /precondition/i.test(error.message)

export function hasCause(error: ApiError, reason: string): boolean {
  return error.details?.causes?.some((cause) => cause.reason === reason) ?? false
}

/** Only what names the request: its body may hold what belongs in no log. */
function nameOf({ verb, path }: RequestName): RequestName {
  return { verb, path }
}

function hasCode(error: unknown, code: number): error is ApiError {
  return error instanceof ApiError && error.code === code
}

/** The word Kubernetes would have used, for refusals by something in between that sends no Status. */
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

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
