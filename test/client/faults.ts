import { PassThrough, Readable } from 'node:stream'

import type { Call, Interceptor, Response } from '../../src/kube/interceptor.ts'

/** An error response of the API server. */
export function errorResponse(code: number, reason: string, message = 'injected', details: object = {}): Response {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details }
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify(status) }
}

type Answer = (call: Call, next: (call: Call) => Promise<Response>) => Response | Promise<Response>

/** Injects faults into a client by its `interceptor`. Calls pass unchanged until a fault is planned. */
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

  /** Responds to the next matching calls instead of the server, in order. */
  plan(matches: (call: Call) => boolean, ...answers: (Response | Answer)[]): void {
    for (const answer of answers) {
      this.#planned.push({ matches, answer: typeof answer === 'function' ? answer : () => answer })
    }
  }

  get pending(): number {
    return this.#planned.length
  }

  /** Sends an event on every open watch, as if the server had sent it. */
  send(event: object): void {
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
