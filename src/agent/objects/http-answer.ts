/** The meaning of HTTP responses for a fetch, the same for all sources that use HTTP. */
import { ChangedError, TransferError, TransientError } from '../transfer/error.ts'

/** What to do about a rejection, for the people who use a source. */
export interface Advice {
  readonly denied: string
  readonly missing: string
}

export function statusError(status: number, what: string, advice: Advice): Error {
  const summary = `${what}: the server answers ${status}`
  if (status === 401 || status === 403) return new TransferError('AccessDenied', `${summary}; ${advice.denied}`)
  if (status === 404 || status === 410) return new TransferError('ArtifactNotFound', `${summary}; ${advice.missing}`)
  if (status === 408 || status === 425 || status === 429 || status >= 500) return new TransientError(summary)
  if (status === 412 || status === 416) return new ChangedError(`${what} has changed while it was fetched`)
  return new TransferError('Invalid', `${summary}: the request is invalid; check the URI`)
}

/** The length of the whole content, from the `Content-Range` of a 206 response. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /^bytes (?:[0-9]+-[0-9]+|\*)\/([0-9]+)$/.exec(contentRange ?? '')?.[1]
  return total === undefined ? undefined : Number(total)
}

export function startOf(contentRange: string | undefined): number | undefined {
  const start = /^bytes ([0-9]+)-/.exec(contentRange ?? '')?.[1]
  return start === undefined ? undefined : Number(start)
}
