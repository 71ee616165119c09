/** Records every mutating call of a client as `verb resource/name`, with the status code of its response. */
import type { Call, Interceptor, Response } from '../../src/kube/interceptor.ts'

export interface AuditedWrite {
  readonly verb: string
  readonly what: string
  readonly code: number
  readonly call: Call
}

export class Audit {
  readonly writes: AuditedWrite[] = []
  readonly #pending = new Set<Promise<unknown>>()

  readonly interceptor: Interceptor = (call, next) => {
    if (['get', 'list', 'watch'].includes(call.verb)) return next(call)
    const answered = this.#record(call, next(call)).finally(() => this.#pending.delete(answered))
    this.#pending.add(answered)
    return answered
  }

  async #record(call: Call, answer: Promise<Response>): Promise<Response> {
    const response = await answer
    const what = [call.resource?.plural, call.name, call.subresource].filter(Boolean).join('/')
    this.writes.push({ verb: call.verb, what, code: response.status, call })
    return response
  }

  /**
   * Returns the writes since the last call as short lines, without leader election and events. Waits for pending responses
   * first, so every write that others can already read is included.
   */
  async take(): Promise<string[]> {
    await Promise.allSettled(this.#pending)
    const written = this.writes.splice(0).filter(({ what }) => !/^(leases|events)/.test(what))
    return written.map(({ verb, what, code }) => `${verb} ${what} ${code}`)
  }
}
