/** Writes down every mutating call that leaves a client, as `verb resource name`, with the code of its answer. */
import type { Call, Interceptor } from '../src/kube/interceptor.ts'

export interface AuditedWrite {
  readonly verb: string
  readonly what: string
  readonly code: number
  readonly call: Call
}

export class Audit {
  readonly writes: AuditedWrite[] = []

  readonly interceptor: Interceptor = async (call, next) => {
    const response = await next(call)
    if (!['get', 'list', 'watch'].includes(call.verb)) {
      const what = [call.resource?.plural, call.name, call.subresource].filter(Boolean).join('/')
      this.writes.push({ verb: call.verb, what, code: response.status, call })
    }
    return response
  }

  /** What was written since the last time, leader election and events aside, as short lines. */
  take(): string[] {
    const written = this.writes.splice(0).filter(({ what }) => !/^(leases|events)/.test(what))
    return written.map(({ verb, what, code }) => `${verb} ${what} ${code}`)
  }
}
