/** Preloaded into the operator's process: records every request that it sends. */
import { subscribe } from 'node:diagnostics_channel'
import { record, resourceAt, verbsOf } from './recorded-calls.ts'

interface Answered {
  readonly request: { readonly method: string; readonly path: string }
  readonly response: { readonly statusCode: number }
}

subscribe('undici:request:headers', (message) => {
  const { request, response } = message as Answered
  record(verbsOf(request.method, request.path, response.statusCode), resourceAt(request.path))
})
