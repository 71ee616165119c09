import type { Client } from './client.ts'
import { ConnectionError } from './errors.ts'
import type { KubeObject, Resource } from './object.ts'
import type { RawWatchEvent, RawWatchOptions } from './options.ts'
import { collectionPath } from './path.ts'
import { StreamedError } from './watch-state.ts'

export type WatchEvent<T extends KubeObject> = Exclude<RawWatchEvent<T>, { type: 'ERROR' }>

export interface WatchStreamOptions extends RawWatchOptions {
  readonly signal: AbortSignal
  /** Time without any event, not even a bookmark, after which the connection counts as dead. */
  readonly inactivityMs: number
}

const OPENING_MS = 10_000

/**
 * One watch request. Ends when the server ends it normally. Throws if it fails, if the server reports an error inside the
 * stream, or if no event arrives for `inactivityMs`. The time that the consumer takes does not count.
 */
export async function* watchStream<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { inactivityMs } = options
  const request = { verb: 'watch', path: collectionPath(resource, options.namespace) }
  const silence = new AbortController()
  const alarm = () => silence.abort(new ConnectionError(request, new Error(`no event for ${inactivityMs} ms`)))
  const signal = AbortSignal.any([options.signal, silence.signal])
  const timeoutMs = Math.min(OPENING_MS, inactivityMs)
  let timer = setTimeout(alarm, inactivityMs)
  try {
    for await (const event of client.openWatch(resource, { ...options, signal, timeoutMs })) {
      clearTimeout(timer)
      if (event.type === 'ERROR') throw new StreamedError({ ...event.object, code: event.object.code ?? 500 }, request)
      yield event
      timer = setTimeout(alarm, inactivityMs)
    }
  } finally {
    clearTimeout(timer)
  }
}
