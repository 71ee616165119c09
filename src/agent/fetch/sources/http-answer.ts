/** What an answer of a server means for a fetch, the same for every source that speaks plain HTTP. */
import { ChangedError, FetchError, TransientError } from '../error.ts'

/** How a source tells its people what to do about a refusal. */
export interface Advice {
  readonly denied: string
  readonly missing: string
}

export function statusError(status: number, what: string, advice: Advice): Error {
  const said = `${what}: the server answers ${status}`
  if (status === 401 || status === 403) return new FetchError('AccessDenied', `${said}; ${advice.denied}`)
  if (status === 404 || status === 410) return new FetchError('ArtifactNotFound', `${said}; ${advice.missing}`)
  if (status === 408 || status === 425 || status === 429 || status >= 500) return new TransientError(said)
  if (status === 412 || status === 416) return new ChangedError(`${what} has changed while it was fetched`)
  return new FetchError('Invalid', `${said}, which means that the request itself is wrong: check the URI`)
}

/** The length of the whole that an answer 206 is a part of. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /^bytes (?:[0-9]+-[0-9]+|\*)\/([0-9]+)$/.exec(contentRange ?? '')?.[1]
  return total === undefined ? undefined : Number(total)
}

export function startOf(contentRange: string | undefined): number | undefined {
  const start = /^bytes ([0-9]+)-/.exec(contentRange ?? '')?.[1]
  return start === undefined ? undefined : Number(start)
}
