/**
 * The caches of a process: one per kind and label selector, shared by everybody who reads that kind. Where several hold
 * a kind, the labels of an object tell which of them it is in.
 */
import type { Client } from '../kube/client.ts'
import { apiVersionOf, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import { selects } from '../kube/selector.ts'
import { watch, type WatchState } from '../kube/watch.ts'
import { Cache, type CacheOptions } from './cache.ts'
import { classify } from './errors.ts'
import type { Logger } from './log.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { followWhileServed } from './optional-kind.ts'

/** How much of a kind to keep, and how to find it. */
export interface KindOptions<T extends KubeObject> extends Pick<CacheOptions<T>, 'trim' | 'labels' | 'indexes'> {
  /** One namespace instead of all. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Silence after which the connection of the watch counts as dead; by default room for one late bookmark. */
  readonly inactivityMs?: number
  /** The kind may be absent from the cluster, and may come and go: see `isServed` of the cache. */
  readonly optional?: { readonly pollMs?: number }
}

export interface CachesDeps {
  readonly client: Client
  readonly log: Logger
  readonly metrics: RuntimeMetrics
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
   * The cache of a kind. With options it is created, once for each label selector; without, it is the one there is.
   * Everything must be asked for before the manager runs, so that a synced manager has all of it.
   */
  of<T extends KubeObject>(resource: Resource<T>, options?: KindOptions<T>): Cache<T> {
    const { kind } = resource
    const known = this.#ofKind({ apiVersion: apiVersionOf(resource), kind })
    if (!options && known.length > 1) throw new Error(`there are several caches of ${kind}: watch the one you mean`)
    if (!options && known[0]) return known[0].cache as unknown as Cache<T>
    if (options && known.some(({ labelSelector }) => labelSelector === options.labelSelector))
      throw new Error(`the cache of ${kind} exists already: give its options only once`)
    if (this.#started) throw new Error(`the caches run already: ask for ${kind} before`)
    return this.#create(resource, options ?? {})
  }

  /** The cache in which an object with these labels is found, if there is one. */
  holding(object: KubeObject): Cache | undefined {
    return this.allHolding(object)[0]
  }

  /** Every cache in which an object with these labels is found. */
  allHolding(object: Labelled): Cache[] {
    const labels = object.metadata?.labels
    return this.#ofKind(object)
      .filter(({ labelSelector }) => labelSelector === undefined || selects(labelSelector, labels))
      .map(({ cache }) => cache)
  }

  /** Every cache of a kind. */
  ofKind(kind: Kind): Cache[] {
    return this.#ofKind(kind).map(({ cache }) => cache)
  }

  /** The object of this kind and name, whichever cache has it. */
  find(kind: Kind, key: ObjectKey): KubeObject | undefined {
    const found = this.ofKind(kind).map((cache) => cache.get(key))
    return found.find((object) => object !== undefined)
  }

  all(): Cache[] {
    return [...this.#entries.values()].flat().map(({ cache }) => cache)
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
    const ended = Promise.all([...this.#entries.values()].flat().map(({ follow }) => follow(signal)))
    const synced = Promise.all(this.all().map((cache) => cache.synced))
    return { synced: synced.then(() => undefined), ended: ended.then(() => undefined) }
  }

  #ofKind({ apiVersion, kind }: Kind): readonly Entry[] {
    return this.#entries.get(`${apiVersion}/${kind}`) ?? []
  }

  #create<T extends KubeObject>(resource: Resource<T>, options: KindOptions<T>): Cache<T> {
    const { client, log } = this.#deps
    const { trim, labels, indexes, optional, ...scope } = options
    const cache = new Cache<T>({
      resource,
      log,
      ...(trim && { trim }),
      ...(labels && { labels }),
      ...(indexes && { indexes }),
    })
    const onState = (state: WatchState): void => this.#noteState(resource.kind, state)
    const follow = (signal: AbortSignal): Promise<void> =>
      optional
        ? followWhileServed(cache, { client, log, watch: { ...scope, signal, onState }, ...optional })
        : cache.follow((transform) => watch(client, resource, { ...scope, signal, transform, onState }))
    const id = `${apiVersionOf(resource)}/${resource.kind}`
    const entry: Entry = { cache: cache as unknown as Cache, labelSelector: options.labelSelector, follow }
    this.#entries.set(id, [...(this.#entries.get(id) ?? []), entry])
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
