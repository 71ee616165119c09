/**
 * Sits between the program under test and the wire, counts its writes over all of its lives, and at those that the plan
 * names kills it or answers in the server's place. A dead program gets no more answers and sends nothing.
 */
import { ConnectionError } from '../../src/kube/errors.ts'
import type { Call, Interceptor, Response, Send } from '../../src/kube/interceptor.ts'
import { type Failure, type Fault, isDeath } from './fault.ts'

export class Saboteur {
  /** Every write that was attempted, over all lives, as `verb resource/name`. */
  readonly attempts: string[] = []
  /** The version of the store after each write that was answered. */
  readonly versions: string[] = []
  readonly #faults: Fault[]
  readonly #onWrite: (call: Call) => void

  constructor(faults: readonly Fault[], onWrite: (call: Call) => void = () => undefined) {
    this.#faults = [...faults]
    this.#onWrite = onWrite
  }

  /** Faults that were not reached: the program made fewer writes than that. */
  get unreached(): readonly Fault[] {
    return this.#faults
  }

  /** The interceptor of one life. `kill` is called once, when the life has to end. */
  life(kill: () => void): Interceptor {
    let dead = false
    const die = (): never => {
      if (!dead) kill()
      dead = true
      throw new Error('this process is dead')
    }
    return async (call, next) => {
      if (dead) die()
      const mode = this.#modeFor(call)
      if (mode !== undefined && !isDeath(mode)) return failed(mode, call, next)
      if (mode === 'unsent') die()
      const response = await next(call)
      this.#note(call, response)
      if (mode === 'unanswered' || dead) die()
      if (mode === 'answered') {
        dead = true
        kill()
      }
      return response
    }
  }

  #note(call: Call, { status, body }: Response): void {
    if (!isCounted(call) || status >= 300 || typeof body !== 'string') return
    const [, version] = /"resourceVersion":"(\d+)"/.exec(body) ?? []
    if (version !== undefined) this.versions.push(version)
  }

  #modeFor(call: Call): Fault['mode'] | undefined {
    if (!isCounted(call)) return undefined
    this.#onWrite(call)
    const name = [call.verb, `${call.resource?.plural}/${call.name}`, call.subresource].filter(Boolean).join(' ')
    this.attempts.push(name)
    const count = (of: string): number => this.attempts.filter((attempt) => attempt.startsWith(of)).length
    const index = this.#faults.findIndex(({ write, of = '' }) => name.startsWith(of) && write === count(of))
    return index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.mode
  }
}

/** Events are told on the side and renewals of a lease never end: neither is part of the trace. */
function isCounted({ verb, resource }: Call): boolean {
  return !['get', 'list', 'watch'].includes(verb) && !/^(events|leases)$/.test(resource?.plural ?? '')
}

const refusal = (code: number, reason: string): Response => ({
  status: code,
  headers: code === 429 ? { 'retry-after': '0' } : {},
  body: JSON.stringify({ kind: 'Status', code, reason, message: 'planned' }),
})

async function failed(mode: Failure, call: Call, next: Send): Promise<Response> {
  if (mode === 'conflict') return refusal(409, 'Conflict')
  if (mode === 'throttled') return refusal(429, 'TooManyRequests')
  if (mode === 'broken') return refusal(500, 'InternalError')
  await next(call)
  throw new ConnectionError(call, new Error('planned: the connection was lost'))
}
