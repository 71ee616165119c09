/**
 * Freezes one run of the operator as SIGSTOP does: no request leaves, no response or event arrives, no timer fires. Time goes
 * on. After the thaw, everything that waited continues, late. Tests expire the lease of a frozen leader at once, so its
 * monotonic clock advances by more than any lease at the thaw: then its own deadline has passed too, as it has after a
 * pause that is long enough for a successor.
 */
import type { Call, Interceptor, Response } from '../../../src/kube/interceptor.ts'
import { type Clock, systemClock } from '../../../src/runtime/clock.ts'

/** Longer than the lease of any operator under test. */
const PAUSED_MS = 60_000

export class Freezer {
  #thawed: PromiseWithResolvers<void> | undefined
  /** By how much the monotonic clock is ahead. */
  #paused = 0
  readonly #onLate: (call: Call) => void

  /** `onLate` is called before each request that was frozen is sent. */
  constructor(onLate: (call: Call) => void = () => undefined) {
    this.#onLate = onLate
  }

  get isFrozen(): boolean {
    return this.#thawed !== undefined
  }

  freeze(): void {
    this.#thawed ??= Promise.withResolvers()
  }

  thaw(): void {
    if (!this.#thawed) return
    this.#paused += PAUSED_MS
    this.#thawed.resolve()
    this.#thawed = undefined
  }

  /** To be the one closest to the wire. */
  readonly interceptor: Interceptor = async (call, next) => {
    if (this.#thawed) {
      await this.#thawed.promise
      this.#onLate(call)
    }
    const response = await next(call)
    await this.#thawed?.promise
    return typeof response.body === 'string' ? response : { ...response, body: this.#held(response.body) }
  }

  /** The operator's clock: its timers wait for the thaw. */
  clock(base: Clock = systemClock): Clock {
    return {
      now: () => base.now(),
      monotonic: () => base.monotonic() + this.#paused,
      setTimeout: (callback, ms) => {
        let cancelled = false
        const fire = (): void => void this.#whenThawed(() => !cancelled && callback())
        const cancel = base.setTimeout(fire, ms)
        return () => {
          cancelled = true
          cancel()
        }
      },
    }
  }

  async #whenThawed(run: () => void): Promise<void> {
    if (!this.#thawed) return run()
    await this.#thawed.promise
    run()
  }

  async *#held(body: Exclude<Response['body'], string>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      await this.#thawed?.promise
      yield chunk
    }
  }
}
