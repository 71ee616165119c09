/** The errors of transfers between storage and a directory. Messages contain no credentials: see `shownUri`. */
import type { FetchFailureReason } from '../../api/fetch-failure.ts'

/** Final: a retry would not help. */
export class TransferError extends Error {
  override readonly name = 'TransferError'
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

export function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
