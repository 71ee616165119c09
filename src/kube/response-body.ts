/** Reads the bodies of responses. A body that no API server writes is a ConnectionError. */
import { text } from 'node:stream/consumers'
import { ConnectionError, type RequestName } from './errors.ts'
import type { Response } from './interceptor.ts'
import { apiVersionOf } from './object.ts'
import type { KubeObject, Resource } from './object.ts'
import type { RawWatchEvent } from './options.ts'

/** The body of a list. */
export interface RawList<T> {
  readonly items?: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

export async function readText(body: Response['body']): Promise<string> {
  return typeof body === 'string' ? body : text(body)
}

/** Fails if a proxy answered instead of the server, or if the end of the body is missing. */
export function parseJson(request: RequestName, body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    throw new ConnectionError(request, error)
  }
}

/** Fails for an event without an object and for an object without metadata: no API server writes such lines. */
export function parseWatchEvent<T extends KubeObject>(request: RequestName, line: string): RawWatchEvent<T> {
  const event = parseJson(request, line)
  const { type, object } = (event ?? {}) as {
    readonly type?: unknown
    readonly object?: { readonly metadata?: unknown }
  }
  const isWhole = isObject(object) && (type === 'ERROR' || isObject(object?.metadata))
  if (typeof type === 'string' && isWhole) return event as RawWatchEvent<T>
  throw new ConnectionError(request, new Error('the server sent a line that is not a watch event'))
}

/**
 * Adds apiVersion and kind to an item of a list. The server omits them for built-in kinds; with them, listed and watched
 * objects look the same.
 */
export function withKind<T extends KubeObject>(resource: Resource<T>): (item: T) => T {
  const apiVersion = apiVersionOf(resource)
  const { kind } = resource
  return (item) => Object.assign({ apiVersion, kind }, item)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
