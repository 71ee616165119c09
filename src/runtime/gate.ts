/**
 * An interceptor that rejects writes while this process is not the leader.
 *
 * It runs for every attempt of a call. A process that was paused past its lease and resumes in the middle of a call, or
 * between two attempts, is stopped here. A pause between this check and the network remains possible: no lease can prevent
 * it, so deletes carry uids and status writes resourceVersions.
 */
import type { Call, Interceptor } from '../kube/interceptor.ts'
import { RuntimeError } from './errors.ts'

export interface GateOptions {
  /** Called before each write. */
  readonly mayWrite: () => boolean
  /** Calls that always pass: those of the leader election. */
  readonly exempt: (call: Call) => boolean
}

const READING_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export function writeGate({ mayWrite, exempt }: GateOptions): Interceptor {
  return async (call, next) => {
    if (READING_VERBS.has(call.verb) || mayWrite() || exempt(call)) return next(call)
    throw new RuntimeError('NotLeading', `rejected ${call.verb} ${call.path}: this process does not hold the lease`)
  }
}
