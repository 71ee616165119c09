/**
 * The objects of one kind and their changes: a list followed by a watch, with reconnects. A consumer that applies every
 * update has, after any fault, the same state as a fresh list.
 *
 * Guarantees
 * - The first update is a `replace`. So is the first one after a gap that the watch could not resume from. It replaces
 *   everything: an object of the same name with another uid is another object.
 * - Between two `replace` updates, `apply` and `delete` arrive in the order of the server, each once.
 * - The resourceVersion never goes back: older events are dropped, and an older list is rejected and requested again.
 *   Only if the server returns an older list more than ten times (about 20 s) is it accepted: then etcd was restored from
 *   a backup.
 * - One request at a time. The generator never ends before the signal aborts and never throws: faults show in `onState`.
 * - A dead connection is detected by the kernel (25 s for a lost peer) or by inactivity (`inactivityMs`).
 *
 * Assumptions
 * - The server sends bookmarks about once a minute. If it does not, the watch reconnects after `inactivityMs`.
 * - resourceVersions of one kind are growing numbers. If they are not, the order of the stream is trusted.
 */
import type { Client, Selection } from './client.ts'
import type { KubeObject, Resource } from './object.ts'
import { isOlder } from './resource-version.ts'
import { sleep } from './sleep.ts'
import { BEGINNING, stateAfter } from './watch-state.ts'
import type { Listing, Outcome, Watching, WatchState } from './watch-state.ts'
import { watchStream } from './watch-stream.ts'
import type { WatchEvent } from './watch-stream.ts'

export type { WatchState } from './watch-state.ts'

export type WatchUpdate<T extends KubeObject> =
  | { readonly type: 'replace'; readonly items: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'apply'; readonly object: T }
  | { readonly type: 'delete'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string }

export interface WatchOptions<T extends KubeObject> extends Selection {
  readonly signal: AbortSignal
  /** Applied to each object as soon as it is decoded, so that unneeded fields are never kept. */
  readonly transform?: (object: T) => T
  /** Inactivity after which a connection counts as dead. The default allows for one late bookmark. */
  readonly inactivityMs?: number
  /** Called at every change of state, with the fault that caused it: for metrics and logs. */
  readonly onState?: (state: WatchState) => void
}

const INACTIVITY_MS = 100_000
/** Smaller than the pages of a plain list, so that decoding never blocks the event loop for long. */
const PAGE_SIZE = 250
const MAX_REJECTED_LISTS = 10

export async function* watch<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: WatchOptions<T>,
): AsyncGenerator<WatchUpdate<T>, void, undefined> {
  const follower = new Follower(client, resource, options)
  let state: WatchState = BEGINNING
  while (!options.signal.aborted) {
    options.onState?.(state)
    if (state.phase === 'waiting') {
      await sleep(state.delayMs, options.signal).catch(() => undefined)
      state = state.next
    } else {
      const outcome: Outcome = yield* follower.follow(state)
      state = stateAfter(state, outcome, Math.random)
    }
  }
}

type Updates<T extends KubeObject> = AsyncGenerator<WatchUpdate<T>, void, undefined>

/** Acts on a state, and keeps the version that the consumer has reached. */
class Follower<T extends KubeObject> {
  readonly #client: Client
  readonly #resource: Resource<T>
  readonly #options: WatchOptions<T>
  readonly #transform: (object: T) => T
  /** The newest version that the consumer has: nothing older may follow. */
  #newest = ''
  #rejectedLists = 0

  constructor(client: Client, resource: Resource<T>, options: WatchOptions<T>) {
    this.#client = client
    this.#resource = resource
    this.#options = options
    this.#transform = options.transform ?? ((object) => object)
  }

  async *follow(state: Listing | Watching): AsyncGenerator<WatchUpdate<T>, Outcome, undefined> {
    let reached = state.phase === 'watching' ? state.resourceVersion : undefined
    let progressed = false
    try {
      for await (const update of this.#updates(state)) {
        reached = this.#newest
        progressed = true
        yield update
      }
    } catch (error) {
      return { progressed, error, ...(reached === undefined ? {} : { resourceVersion: reached }) }
    }
    return { progressed, ...(reached === undefined ? {} : { resourceVersion: reached }) }
  }

  #updates(state: Listing | Watching): Updates<T> {
    if (state.phase === 'watching') return this.#changes(state.resourceVersion)
    return state.mode === 'stream' ? this.#everything() : this.#pages()
  }

  /** A streaming list: initial events up to an annotated bookmark, then changes on the same connection. */
  async *#everything(): Updates<T> {
    let initial: Map<string, T> | undefined = new Map()
    for await (const event of this.#stream({ sendInitialEvents: true })) {
      if (!initial) {
        yield* this.#change(event)
      } else if (endsInitial(event)) {
        yield this.#replacement([...initial.values()], event.object.metadata.resourceVersion)
        initial = undefined
      } else {
        this.#collect(initial, event)
      }
    }
  }

  #collect(initial: Map<string, T>, event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return
    const id = event.object.metadata.uid ?? ''
    if (event.type === 'DELETED') initial.delete(id)
    else initial.set(id, this.#transform(event.object))
  }

  async *#pages(): Updates<T> {
    const items: T[] = []
    let version = ''
    for await (const page of this.#client.pages(this.#resource, { ...this.#options, limit: PAGE_SIZE })) {
      for (const item of page.items) items.push(this.#transform(item))
      version = page.resourceVersion
    }
    yield this.#replacement(items, version)
  }

  async *#changes(resourceVersion: string): Updates<T> {
    for await (const event of this.#stream({ resourceVersion })) yield* this.#change(event)
  }

  #stream(from: { resourceVersion?: string; sendInitialEvents?: boolean }): AsyncIterable<WatchEvent<T>> {
    const { inactivityMs = INACTIVITY_MS } = this.#options
    const timeoutSeconds = Math.round(300 * (1 + Math.random()))
    return watchStream(this.#client, this.#resource, { ...this.#options, inactivityMs, timeoutSeconds, ...from })
  }

  #replacement(items: readonly T[], resourceVersion: string): WatchUpdate<T> {
    if (isOlder(resourceVersion, this.#newest) && this.#rejectedLists < MAX_REJECTED_LISTS) {
      this.#rejectedLists += 1
      throw new Error(`the server listed version ${resourceVersion}, older than ${this.#newest}, which it had before`)
    }
    this.#rejectedLists = 0
    this.#newest = resourceVersion
    return { type: 'replace', items, resourceVersion }
  }

  *#change(event: WatchEvent<T>): Generator<WatchUpdate<T>, void, undefined> {
    const { resourceVersion = '' } = event.object.metadata
    const isRepeated = resourceVersion === this.#newest && event.type !== 'BOOKMARK'
    if (isRepeated || isOlder(resourceVersion, this.#newest)) return
    const update = this.#updateOf(event, resourceVersion)
    this.#newest = resourceVersion // after the transform: if it throws, the event must not be lost
    yield update
  }

  #updateOf(event: WatchEvent<T>, resourceVersion: string): WatchUpdate<T> {
    if (event.type === 'BOOKMARK') return { type: 'bookmark', resourceVersion }
    return { type: event.type === 'DELETED' ? 'delete' : 'apply', object: this.#transform(event.object) }
  }
}

function endsInitial<T extends KubeObject>(
  event: WatchEvent<T>,
): event is Extract<WatchEvent<T>, { type: 'BOOKMARK' }> {
  return event.type === 'BOOKMARK' && event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'
}
