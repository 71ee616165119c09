/** The failure of a fetch, for the status of the model. */
import type { FetchFailure } from '../../api/fetch-failure.ts'
import { UsageError } from '../../command/flags.ts'
import { ChangedError, codeOf, TransferError, TransientError } from '../transfer/error.ts'

export function failureOf(error: unknown, directory: string): FetchFailure {
  if (error instanceof TransferError) return { reason: error.reason, message: error.message }
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
