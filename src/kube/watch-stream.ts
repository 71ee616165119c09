import type { Client } from './client.ts'
import { ConnectionError } from './errors.ts'
import type { KubeObject, Resource } from './object.ts'
import type { RawWatchEvent, RawWatchOptions } from './options.ts'
import { collectionPath } from './path.ts'
import { StreamedError } from './watch-state.ts'

export type WatchEvent<T extends KubeObject> = Exclude<RawWatchEvent<T>, { type: 'ERROR' }>

export interface WatchStreamOptions extends RawWatchOptions {
  readonly signal: AbortSignal
  /** Longer than this without a word, not even a bookmark, and the connection counts as dead. */
  readonly inactivityMs: number
}

const OPENING_MS = 10_000

/**
 * One watch request. Ends when the server ends it in good order; throws when it fails, when the server says so inside
 * the stream, or when nothing has come for too long. Only waiting for the server counts as silence, not the consumer's
 * own time.
 */
export async function* watchStream<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { inactivityMs } = options
  const request = { verb: 'watch', path: collectionPath(resource, options.namespace) }
  const silence = new AbortController()
  const alarm = () => silence.abort(new ConnectionError(request, new Error(`silent for ${inactivityMs} ms`)))
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
