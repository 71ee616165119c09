/**
 * The caches of a process: one per kind and label selector, shared by all readers of the kind. If a kind has several
 * caches, the labels of an object determine which of them contain it.
 */
import type { Client } from '../kube/client.ts'
import { apiVersionOf, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import { selects } from '../kube/selector.ts'
import { watch, type WatchState } from '../kube/watch.ts'
import { Cache, type CacheOptions } from './cache.ts'
import { type Clock, systemClock } from './clock.ts'
import { classify } from './errors.ts'
import type { Logger } from './log.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { followWhileServed } from './optional-kind.ts'

/** Which objects of a kind to cache, what to keep of them, and how to index them. */
export interface KindOptions<T extends KubeObject> extends Pick<
  CacheOptions<T>,
  'trim' | 'labels' | 'indexes' | 'exclusive'
> {
  /** One namespace or several, each with its own watch, instead of all. */
  readonly namespace?: string | readonly string[]
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Inactivity after which the connection of the watch counts as dead. The default allows for one late bookmark. */
  readonly inactivityMs?: number
  /** The cluster may start and stop serving the kind at any time: see `isServed` of the cache. */
  readonly optional?: { readonly pollMs?: number }
}

export interface CachesDeps {
  readonly client: Client
  readonly log: Logger
  readonly metrics: RuntimeMetrics
  readonly clock?: Clock
}

interface Entry {
  readonly cache: Cache
  readonly labelSelector?: string | undefined
  readonly follow: (signal: AbortSignal) => Promise<void>
}

type Kind = Pick<KubeObject, 'apiVersion' | 'kind'>
type Labelled = Kind & Partial<Pick<KubeObject, 'metadata'>>

export class Caches {
  readonly #deps: CachesDeps
  readonly #entries = new Map<string, Entry[]>()
  #started = false

  constructor(deps: CachesDeps) {
    this.#deps = deps
    const labelNames = ['kind'] as const
    const sizes = (): [{ kind: string }, number][] =>
      [...Map.groupBy(this.all(), ({ resource }) => resource.kind)].map(([kind, caches]) => [
        { kind },
        caches.reduce((sum, { size }) => sum + size, 0),
      ])
    deps.metrics.gauge({ name: 'cache_objects', help: 'Objects held in the cache, by kind', labelNames }, sizes)
  }

  /**
   * The cache of a kind. With options, creates it: once for each label selector. Without options, returns the existing
   * one. All caches must be created before the manager runs, so that it can wait until all have synced.
   */
  of<T extends KubeObject>(resource: Resource<T>, options?: KindOptions<T>): Cache<T> {
    const { kind } = resource
    const known = this.#ofKind({ apiVersion: apiVersionOf(resource), kind })
    if (!options && known.length > 1)
      throw new Error(`${kind} has several caches: pass one of them instead of the kind`)
    if (!options && known[0]) return known[0].cache as unknown as Cache<T>
    if (options && known.some(({ labelSelector }) => labelSelector === options.labelSelector))
      throw new Error(`the cache of ${kind} already exists: pass its options only once`)
    if (this.#started) throw new Error(`the caches are already running: create the cache of ${kind} earlier`)
    return this.#create(resource, options ?? {})
  }

  /** The cache that contains objects with these labels, if there is one. */
  holding(object: KubeObject): Cache | undefined {
    return this.allHolding(object)[0]
  }

  /** All caches that contain objects with these labels. */
  allHolding(object: Labelled): Cache[] {
    const labels = object.metadata?.labels
    return this.#ofKind(object)
      .filter(({ labelSelector }) => labelSelector === undefined || selects(labelSelector, labels))
      .map(({ cache }) => cache)
  }

  /** All caches of a kind. */
  ofKind(kind: Kind): Cache[] {
    return this.#ofKind(kind).map(({ cache }) => cache)
  }

  /** The object of this kind and name, in any cache. */
  find(kind: Kind, key: ObjectKey): KubeObject | undefined {
    const found = this.ofKind(kind).map((cache) => cache.get(key))
    return found.find((object) => object !== undefined)
  }

  all(): Cache[] {
    return [...this.#entries.values()].flat().map(({ cache }) => cache)
  }

  /** The kinds that have not synced yet. */
  unsynced(): string[] {
    return this.all()
      .filter((cache) => !cache.hasSynced)
      .map((cache) => cache.resource.kind)
  }

  /** Starts all caches. `synced` resolves after all first lists, `ended` after the signal has stopped all caches. */
  start(signal: AbortSignal): { readonly synced: Promise<void>; readonly ended: Promise<void> } {
    this.#started = true
    const ended = Promise.all([...this.#entries.values()].flat().map(({ follow }) => follow(signal)))
    const synced = Promise.all(this.all().map((cache) => cache.synced))
    return { synced: synced.then(() => undefined), ended: ended.then(() => undefined) }
  }

  #ofKind({ apiVersion, kind }: Kind): readonly Entry[] {
    return this.#entries.get(`${apiVersion}/${kind}`) ?? []
  }

  #create<T extends KubeObject>(resource: Resource<T>, options: KindOptions<T>): Cache<T> {
    const { client, log, clock = systemClock } = this.#deps
    const { trim, labels, indexes, exclusive, optional, namespace, ...selection } = options
    const cache = new Cache<T>({
      resource,
      log,
      namespaces: [namespace ?? []].flat(),
      ...(trim && { trim }),
      ...(labels && { labels }),
      ...(indexes && { indexes }),
      ...(exclusive && { exclusive }),
    })
    const onState = (state: WatchState): void => this.#reportState(resource.kind, state)
    const follow = (signal: AbortSignal): Promise<void> =>
      optional
        ? followWhileServed(cache, { client, log, clock, watch: { ...selection, signal, onState }, ...optional })
        : cache.follow((transform, scope) =>
            watch(client, resource, { ...selection, ...scope, signal, transform, onState }),
          )
    const id = `${apiVersionOf(resource)}/${resource.kind}`
    const entry: Entry = { cache: cache as unknown as Cache, labelSelector: options.labelSelector, follow }
    this.#entries.set(id, [...(this.#entries.get(id) ?? []), entry])
    return cache
  }

  /** In the phase `waiting` a watch has ended and will restart. Without an error, the server ended it normally. */
  #reportState(kind: string, state: WatchState): void {
    if (state.phase !== 'waiting') return
    const cause = state.error === undefined ? 'ended' : classify(state.error).code
    this.#deps.metrics.watchRestarted(kind, cause)
    const level = state.error === undefined ? 'info' : 'warn'
    this.#deps.log[level]({ err: state.error, kind, cause, delayMs: state.delayMs }, 'restarting a watch')
  }
}
