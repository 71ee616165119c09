/** What can go wrong on the way from a source to the disk. Messages carry no credentials: see `shownUri`. */
import type { FetchFailure, FetchFailureReason } from '../../api/fetch-failure.ts'
import { UsageError } from '../../command/flags.ts'

/** Final: trying again at once would not help. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly reason: FetchFailureReason

  constructor(reason: FetchFailureReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Worth another try: the connection broke, or the server is overloaded. */
export class TransientError extends Error {
  override readonly name = 'TransientError'
}

/** What is being read is no longer what was listed. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError'
}

/** Any error as what the model's status is to say. */
export function failureOf(error: unknown, directory: string): FetchFailure {
  if (error instanceof FetchError) return { reason: error.reason, message: error.message }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ChangedError) {
    return { reason: 'Invalid', message: `${message}; publish a model under a name that is not written again` }
  }
  if (error instanceof UsageError) return { reason: 'Invalid', message }
  if (error instanceof TransientError) return { reason: 'Unreachable', message }
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return { reason: 'NoSpace', message: `the disk of ${directory} is full: give the model's volume more room` }
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return {
      reason: 'Invalid',
      message: `${directory} cannot be written (${code}): mount a volume that this user may write`,
    }
  }
  return { reason: 'Invalid', message: `unexpected: ${message}` }
}

export function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
