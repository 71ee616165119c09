/** Preloaded into the operator's process: records every request that it sends. */
import { subscribe } from 'node:diagnostics_channel'
import { record } from './recorded-calls.ts'

interface Answered {
  readonly request: { readonly method: string; readonly path: string }
  readonly response: { readonly statusCode: number }
}

subscribe('undici:request:headers', (message) => {
  const { request, response } = message as Answered
  record(request, response.statusCode)
})
