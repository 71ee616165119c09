/**
 * The last word on every write: an interceptor that refuses mutating calls while this process may not act.
 *
 * It sits in the client, below its retries, so a process that was paused past its lease and resumes in the middle of a
 * call, or between two attempts of one, is stopped there. What remains possible is a pause between this check and the
 * network card: no lease can close that gap, which is why deletes carry uids and status writes resource versions.
 */
import type { Call, Interceptor } from '../kube/interceptor.ts'
import { RuntimeError } from './errors.ts'

export interface GateOptions {
  /** Asked before each write. */
  readonly mayWrite: () => boolean
  /** Calls that pass a closed gate: the election's own. */
  readonly exempt: (call: Call) => boolean
}

const READING_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export function writeGate({ mayWrite, exempt }: GateOptions): Interceptor {
  return async (call, next) => {
    if (READING_VERBS.has(call.verb) || mayWrite() || exempt(call)) return next(call)
    throw new RuntimeError('NotLeading', `refused to ${call.verb} ${call.path}: the lease is not held`)
  }
}
