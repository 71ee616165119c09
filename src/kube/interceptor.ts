/**
 * What passes between the client and the wire. Every HTTP attempt is one `Call` handed down a chain of interceptors,
 * outermost first; the last link sends it. An interceptor may look (metrics, audit), change, delay, or answer in the
 * server's place (fault injection).
 */
import type { Resource } from './object.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Call {
  readonly verb: Verb
  readonly method: Method
  /** Path and query, as sent. */
  readonly path: string
  /** Absent for paths outside the resource model, such as `/readyz`. */
  readonly resource?: Resource
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly body?: string
  readonly contentType?: string
  /** The answer is read piece by piece as it comes: watches and followed logs. */
  readonly stream: boolean
  /** 1 for the first time on the wire, then counting up. */
  readonly attempt: number
  /** For the complete answer of this attempt; for a stream, for its beginning. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface Response {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Chunks only for a stream that was accepted; a refusal is always text. */
  readonly body: string | AsyncIterable<Uint8Array>
}

export type Send = (call: Call) => Promise<Response>
export type Interceptor = (call: Call, next: Send) => Promise<Response>

/** One `Send` that passes each call through all interceptors, the first of the list outermost. */
export function intercepted(interceptors: readonly Interceptor[], send: Send): Send {
  return interceptors.reduceRight<Send>((next, interceptor) => (call) => interceptor(call, next), send)
}
