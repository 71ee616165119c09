/**
 * Counts the writes of the operator under test across restarts. At the writes that the plan names, it kills or pauses the
 * operator, or fails the call. A killed operator sends nothing and gets no more responses.
 */
import type { Call, Interceptor, Response } from '../../../src/kube/interceptor.ts'
import { failCall } from './api-failures.ts'
import { type Failure, type Fault, isCrash, isPause, type Pause } from './fault.ts'

/** One run of the operator, as faults affect it. */
export interface FaultTarget {
  /** Called once, at the crash. */
  kill(): void
  /** Called before the write that is to be sent late. */
  pause(mode: Pause): void
}

export class FaultInjector {
  /** Every attempted write, across restarts, as `verb resource/name`. */
  readonly attempts: string[] = []
  /** The resourceVersion after each write that succeeded. */
  readonly versions: string[] = []
  readonly #faults: Fault[]
  readonly #onWrite: (call: Call) => void
  /** Failures that continue for the next retries of a write, by its name. */
  readonly #lasting = new Map<string, { readonly mode: Failure; left: number }>()

  constructor(faults: readonly Fault[], onWrite: (call: Call) => void = () => undefined) {
    this.#faults = [...faults]
    this.#onWrite = onWrite
  }

  /** Faults that were not reached because the operator made fewer writes. */
  get unreached(): readonly Fault[] {
    return this.#faults
  }

  /** The interceptor for one run of the operator. */
  interceptorFor(target: FaultTarget): Interceptor {
    let isDead = false
    const die = (): never => {
      if (!isDead) target.kill()
      isDead = true
      throw new Error('injected: the operator has crashed')
    }
    return async (call, next) => {
      if (isDead) die()
      const mode = this.#modeFor(call)
      if (mode !== undefined && isPause(mode)) target.pause(mode)
      else if (mode !== undefined && !isCrash(mode)) return failCall(mode, call, next)
      if (mode === 'unsent') die()
      const response = await next(call)
      this.#recordVersion(call, response)
      if (mode === 'unanswered' || isDead) die()
      if (mode === 'answered') {
        isDead = true
        target.kill()
      }
      return response
    }
  }

  #recordVersion(call: Call, { status, body }: Response): void {
    if (!isCounted(call) || status >= 300 || typeof body !== 'string') return
    const [, version] = /"resourceVersion":"(\d+)"/.exec(body) ?? []
    if (version !== undefined) this.versions.push(version)
  }

  #modeFor(call: Call): Fault['mode'] | undefined {
    if (!isCounted(call)) return undefined
    const name = [call.verb, `${call.resource?.plural}/${call.name}`, call.subresource].filter(Boolean).join(' ')
    this.attempts.push(name)
    this.#onWrite(call)
    return this.#lastingFailure(name) ?? this.#plannedFor(name)
  }

  #plannedFor(name: string): Fault['mode'] | undefined {
    const count = (of: string): number => this.attempts.filter((attempt) => attempt.startsWith(of)).length
    const index = this.#faults.findIndex(({ write, of = '' }) => name.startsWith(of) && write === count(of))
    const [fault] = index < 0 ? [] : this.#faults.splice(index, 1)
    if (fault?.times !== undefined && !isCrash(fault.mode) && !isPause(fault.mode))
      this.#lasting.set(name, { mode: fault.mode, left: fault.times - 1 })
    return fault?.mode
  }

  #lastingFailure(name: string): Failure | undefined {
    const lasting = this.#lasting.get(name)
    if (!lasting || lasting.left === 0) return undefined
    lasting.left -= 1
    return lasting.mode
  }
}

/** Events and lease renewals are not counted. */
function isCounted({ verb, resource }: Call): boolean {
  return !['get', 'list', 'watch'].includes(verb) && !/^(events|leases)$/.test(resource?.plural ?? '')
}
