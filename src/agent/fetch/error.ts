/** The errors of a fetch. Messages contain no credentials: see `shownUri`. */
import type { FetchFailure, FetchFailureReason } from '../../api/fetch-failure.ts'
import { UsageError } from '../../command/flags.ts'

/** Final: a retry would not help. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly reason: FetchFailureReason

  constructor(reason: FetchFailureReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A retry may help: the connection broke, or the server is overloaded. */
export class TransientError extends Error {
  override readonly name = 'TransientError'
}

/** The content has changed since it was listed. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError'
}

/** The failure to report in the status of the model. */
export function failureOf(error: unknown, directory: string): FetchFailure {
  if (error instanceof FetchError) return { reason: error.reason, message: error.message }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ChangedError) {
    return { reason: 'Invalid', message: `${message}; publish each model under a name of its own` }
  }
  if (error instanceof UsageError) return { reason: 'Invalid', message }
  if (error instanceof TransientError) return { reason: 'Unreachable', message }
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return { reason: 'NoSpace', message: `the disk of ${directory} is full: enlarge the volume of the model` }
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return {
      reason: 'Invalid',
      message: `${directory} is not writable (${code}): mount a volume that this user may write to`,
    }
  }
  return { reason: 'Invalid', message: `unexpected error: ${message}` }
}

export function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
