/** The caches of a process: one per kind, shared by everybody who reads that kind. */
import type { Client } from '../kube/client.ts'
import { apiVersionOf, type KubeObject, type Resource } from '../kube/object.ts'
import { watch, type WatchState } from '../kube/watch.ts'
import { Cache, type CacheOptions } from './cache.ts'
import { classify } from './errors.ts'
import type { Logger } from './log.ts'
import type { RuntimeMetrics } from './metrics.ts'

/** How much of a kind to keep, and how to find it. */
export interface KindOptions<T extends KubeObject> extends Pick<CacheOptions<T>, 'trim' | 'labels' | 'indexes'> {
  /** One namespace instead of all. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Silence after which the connection of the watch counts as dead; by default room for one late bookmark. */
  readonly inactivityMs?: number
}

export interface CachesDeps {
  readonly client: Client
  readonly log: Logger
  readonly metrics: RuntimeMetrics
}

interface Entry {
  readonly cache: Cache
  readonly follow: (signal: AbortSignal) => Promise<void>
}

export class Caches {
  readonly #deps: CachesDeps
  readonly #entries = new Map<string, Entry>()
  #started = false

  constructor(deps: CachesDeps) {
    this.#deps = deps
    const labelNames = ['kind'] as const
    deps.metrics.gauge({ name: 'cache_objects', help: 'Objects held in the cache, by kind', labelNames }, () =>
      this.all().map((cache) => [{ kind: cache.resource.kind }, cache.size] as const),
    )
  }

  /**
   * The cache of a kind. The first call decides the options; asking again without any gives the same cache.
   * Everything must be asked for before the manager runs, so that a synced manager has all of it.
   */
  of<T extends KubeObject>(resource: Resource<T>, options?: KindOptions<T>): Cache<T> {
    const id = kindId(apiVersionOf(resource), resource.kind)
    const known = this.#entries.get(id)
    if (known && options) throw new Error(`the cache of ${resource.kind} exists already: give its options only once`)
    if (known) return known.cache as unknown as Cache<T>
    if (this.#started) throw new Error(`the caches run already: ask for ${resource.kind} before`)
    return this.#create(id, resource, options ?? {})
  }

  /** The cache that holds the kind of this object, if there is one. */
  holding(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Cache | undefined {
    return this.#entries.get(kindId(object.apiVersion, object.kind))?.cache
  }

  all(): Cache[] {
    return [...this.#entries.values()].map(({ cache }) => cache)
  }

  /** The kinds whose first list is still on its way. */
  unsynced(): string[] {
    return this.all()
      .filter((cache) => !cache.hasSynced)
      .map((cache) => cache.resource.kind)
  }

  /** Starts every cache. `synced` resolves when all have their first list, `ended` when the signal has ended them. */
  start(signal: AbortSignal): { readonly synced: Promise<void>; readonly ended: Promise<void> } {
    this.#started = true
    const ended = Promise.all([...this.#entries.values()].map(({ follow }) => follow(signal)))
    const synced = Promise.all(this.all().map((cache) => cache.synced))
    return { synced: synced.then(() => undefined), ended: ended.then(() => undefined) }
  }

  #create<T extends KubeObject>(id: string, resource: Resource<T>, options: KindOptions<T>): Cache<T> {
    const { client, log } = this.#deps
    const { trim, labels, indexes, ...scope } = options
    const cache = new Cache<T>({
      resource,
      log,
      ...(trim && { trim }),
      ...(labels && { labels }),
      ...(indexes && { indexes }),
    })
    const onState = (state: WatchState): void => this.#noteState(resource.kind, state)
    const follow = (signal: AbortSignal): Promise<void> =>
      cache.follow((transform) => watch(client, resource, { ...scope, signal, transform, onState }))
    this.#entries.set(id, { cache: cache as unknown as Cache, follow })
    return cache
  }

  /** Waiting means that the watch has ended and begins again; in good order, if there is no error. */
  #noteState(kind: string, state: WatchState): void {
    if (state.phase !== 'waiting') return
    const cause = state.error === undefined ? 'ended' : classify(state.error).code
    this.#deps.metrics.watchRestarted(kind, cause)
    const level = state.error === undefined ? 'info' : 'warn'
    this.#deps.log[level]({ err: state.error, kind, cause, delayMs: state.delayMs }, 'a watch begins again')
  }
}

function kindId(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`
}
