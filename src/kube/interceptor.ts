/**
 * Calls, responses, and the interceptors between client and transport. Every HTTP attempt is one `Call` that passes
 * through a chain of interceptors, outermost first; the last link sends it. An interceptor may observe (metrics, audit),
 * change or delay a call, or respond instead of the server (fault injection).
 */
import type { Resource } from './object.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Call {
  readonly verb: Verb
  readonly method: Method
  /** Path and query, as sent. */
  readonly path: string
  /** Absent for paths that belong to no resource, such as `/readyz`. */
  readonly resource?: Resource
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly body?: string
  readonly contentType?: string
  /** The response is read as it arrives: watches and followed logs. */
  readonly stream: boolean
  /** Counts the HTTP attempts of a call, from 1. */
  readonly attempt: number
  /** Until the response of this attempt is complete; for a stream, until it begins. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface Response {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Chunks only for a stream that the server accepted; a rejection is always text. */
  readonly body: string | AsyncIterable<Uint8Array>
}

export type Send = (call: Call) => Promise<Response>
export type Interceptor = (call: Call, next: Send) => Promise<Response>

/** Builds a `Send` that passes each call through all interceptors, the first of the list outermost. */
export function intercepted(interceptors: readonly Interceptor[], send: Send): Send {
  return interceptors.reduceRight<Send>((next, interceptor) => (call) => interceptor(call, next), send)
}
