/**
 * Delays the watch events of one kind while all other kinds are current. Lists are not changed: an operator that lists again
 * sees the current state.
 */
import type { Interceptor, Response } from '../../../src/kube/interceptor.ts'
import { lines } from '../../../src/kube/lines.ts'
import type { SlowKind } from './fault.ts'

/** No event is held longer than this, so an operator that waits for its own write continues. */
const HELD_MS = 300
const FROZEN_MS = 700

type Body = Exclude<Response['body'], string>

export function slowWatch({ kind, lag, frozenAt }: SlowKind): Interceptor {
  const events = new EventCount()
  let slowEvents = 0
  let frozenUntil: Promise<void> | undefined
  const release = async (): Promise<void> => {
    slowEvents += 1
    if (lag !== undefined) return events.after(lag)
    if (slowEvents === frozenAt) frozenUntil = timer(FROZEN_MS)
    await frozenUntil
  }
  return async (call, next) => {
    const response = await next(call)
    if (call.verb !== 'watch' || typeof response.body === 'string') return response
    const isSlow = call.resource?.plural === kind
    return { ...response, body: isSlow ? delayed(response.body, release) : counted(response.body, events) }
  }
}

async function* counted(body: Body, events: EventCount): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    events.add()
    yield chunk
  }
}

/** Keeps the order. Each event is held from its arrival, however many wait before it. */
async function* delayed(body: Body, release: () => Promise<void>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = lines(body)
  const held: Promise<string | undefined>[] = []
  let arrived = Promise.withResolvers<void>()
  const read = async (): Promise<void> => {
    for (;;) {
      const next = await source.next()
      held.push(next.done ? Promise.resolve(undefined) : releasedLine(next.value, release))
      arrived.resolve()
      if (next.done) return
    }
  }
  const reading = read()
  for (;;) {
    await Promise.race([arrived.promise, reading])
    arrived = Promise.withResolvers()
    for (let first = held.shift(); first; first = held.shift()) {
      const line = await first
      if (line === undefined) return
      yield Buffer.from(`${line}\n`)
    }
  }
}

async function releasedLine(line: string, release: () => Promise<void>): Promise<string> {
  if (!isBookmark(line)) await release()
  return line
}

const isBookmark = (line: string): boolean => line.startsWith('{"type":"BOOKMARK"')

/** Counts the events of all other kinds. */
class EventCount {
  #count = 0
  readonly #waiting = new Set<{ readonly at: number; wake(): void }>()

  add(): void {
    this.#count += 1
    for (const waiter of this.#waiting) if (waiter.at <= this.#count) waiter.wake()
  }

  /** Resolves after this many more events, or after `HELD_MS`. */
  async after(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { at: this.#count + more, wake: resolve }
    this.#waiting.add(waiter)
    await Promise.race([promise, timer(HELD_MS)])
    this.#waiting.delete(waiter)
  }
}

function timer(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
