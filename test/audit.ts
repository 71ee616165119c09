/** Writes down every mutating call that leaves a client, as `verb resource name`, with the code of its answer. */
import type { Call, Interceptor, Response } from '../src/kube/interceptor.ts'

export interface AuditedWrite {
  readonly verb: string
  readonly what: string
  readonly code: number
  readonly call: Call
}

export class Audit {
  readonly writes: AuditedWrite[] = []
  readonly #unanswered = new Set<Promise<unknown>>()

  readonly interceptor: Interceptor = (call, next) => {
    if (['get', 'list', 'watch'].includes(call.verb)) return next(call)
    const answered = this.#written(call, next(call)).finally(() => this.#unanswered.delete(answered))
    this.#unanswered.add(answered)
    return answered
  }

  async #written(call: Call, answer: Promise<Response>): Promise<Response> {
    const response = await answer
    const what = [call.resource?.plural, call.name, call.subresource].filter(Boolean).join('/')
    this.writes.push({ verb: call.verb, what, code: response.status, call })
    return response
  }

  /**
   * What was written since the last time, leader election and events aside, as short lines. Waits for the answers that
   * are under way: what somebody else can read already is always among them.
   */
  async take(): Promise<string[]> {
    await Promise.allSettled(this.#unanswered)
    const written = this.writes.splice(0).filter(({ what }) => !/^(leases|events)/.test(what))
    return written.map(({ verb, what, code }) => `${verb} ${what} ${code}`)
  }
}
