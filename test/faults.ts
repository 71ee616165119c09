import { PassThrough, Readable } from 'node:stream'

import type { Call, Interceptor, Response } from '../src/kube/interceptor.ts'

/** A refusal as the API server words it. */
export function refusal(code: number, reason: string, message = 'injected', details: object = {}): Response {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details }
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify(status) }
}

type Answer = (call: Call, next: (call: Call) => Promise<Response>) => Response | Promise<Response>

/** Faults for a client: put `interceptor` into it, and it behaves until told otherwise. */
export class Faults {
  readonly calls: Call[] = []
  readonly #planned: { readonly matches: (call: Call) => boolean; readonly answer: Answer }[] = []
  readonly #streams = new Set<PassThrough>()

  readonly interceptor: Interceptor = async (call, next) => {
    this.calls.push(call)
    const index = this.#planned.findIndex(({ matches }) => matches(call))
    const [planned] = index < 0 ? [] : this.#planned.splice(index, 1)
    const response = planned ? await planned.answer(call, next) : await next(call)
    return call.stream && typeof response.body !== 'string' ? this.#tapped(response, response.body) : response
  }

  /** Answers the next matching calls in the server's place, one after the other. */
  plan(matches: (call: Call) => boolean, ...answers: (Response | Answer)[]): void {
    for (const answer of answers) {
      this.#planned.push({ matches, answer: typeof answer === 'function' ? answer : () => answer })
    }
  }

  get pending(): number {
    return this.#planned.length
  }

  /** Puts an event into every open watch, as if the server had sent it. */
  say(event: object): void {
    for (const stream of this.#streams) stream.write(`${JSON.stringify(event)}\n`)
  }

  #tapped(response: Response, body: AsyncIterable<Uint8Array>): Response {
    const source = Readable.from(body)
    const tap = new PassThrough()
    this.#streams.add(tap)
    tap.on('close', () => {
      this.#streams.delete(tap)
      source.destroy()
    })
    source.on('error', (error) => tap.destroy(error))
    source.pipe(tap)
    return { ...response, body: tap }
  }
}
