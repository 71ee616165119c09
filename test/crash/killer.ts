/**
 * Ends a process at a chosen write. The process runs inside this one, so "ends" means: not one more of its calls leaves,
 * and everything it holds in memory is dropped. What was already on its way may still land, as it may in life.
 */
import type { Call, Interceptor } from '../../src/kube/interceptor.ts'

/** Where the write stands when the process dies: not sent; stored, but the answer lost; stored and answered. */
export const MODES = ['unsent', 'unanswered', 'answered'] as const
export type CrashMode = (typeof MODES)[number]

export interface CrashPoint {
  /** Counted from 1, over all lives of the process. */
  readonly write: number
  readonly mode: CrashMode
}

export function describePoint({ write, mode }: CrashPoint): string {
  return `write ${write} ${mode}`
}

export class Killer {
  /** Every write that was attempted, over all lives, as `verb resource/name`. */
  readonly attempts: string[] = []
  readonly #points: CrashPoint[]
  readonly #onWrite: (call: Call) => void

  constructor(points: readonly CrashPoint[], onWrite: (call: Call) => void = () => undefined) {
    this.#points = [...points]
    this.#onWrite = onWrite
  }

  /** Points that were not reached: the process made fewer writes than that. */
  get unreached(): readonly CrashPoint[] {
    return this.#points
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
      if (mode === 'unsent') die()
      const response = await next(call)
      if (mode === 'unanswered' || dead) die()
      if (mode === 'answered') {
        dead = true
        kill()
      }
      return response
    }
  }

  /** Events are told on the side and renewals of a lease never end: neither is part of the trace. */
  #modeFor(call: Call): CrashMode | undefined {
    if (['get', 'list', 'watch'].includes(call.verb) || /^(events|leases)$/.test(call.resource?.plural ?? ''))
      return undefined
    this.#onWrite(call)
    this.attempts.push([call.verb, `${call.resource?.plural}/${call.name}`, call.subresource].filter(Boolean).join(' '))
    const index = this.#points.findIndex(({ write }) => write === this.attempts.length)
    return index < 0 ? undefined : this.#points.splice(index, 1)[0]?.mode
  }
}
