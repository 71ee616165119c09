/**
 * The objects of one kind, in memory and indexed, kept up to date by a watch.
 *
 * Guarantees
 * - After `synced`, the cache equals a state that the server had, at most as old as the lag of the watch. It never moves
 *   back: an older version of an object never replaces a newer one. The exception is a restore of etcd from a backup,
 *   which shows as a list older than what was known.
 * - Objects are identified by uid. A name that was deleted and created again, even unobserved across a relist, arrives as
 *   `delete`, then `add`. A late deletion of the old object does not affect the new one.
 * - Read-your-writes: `hasSeen(write)` returns whether the cache reflects a write of this process. The controller starts
 *   no reconcile of a key before it reflects all writes of the key's last reconcile.
 * - A listener that throws stops neither the cache nor the other listeners.
 * - All readers share the objects and must not change them. Of `managedFields` they keep only what drift detection needs.
 *
 * Assumptions
 * - A watch delivers in the order of the server, rejects stale lists, and reconnects by itself (`kube/watch.ts`). The
 *   watches of several namespaces have no order among each other.
 */
import type { KubeObject, ObjectKey, Resource } from '../kube/object.ts'
import { isOlder } from '../kube/resource-version.ts'
import type { WatchUpdate } from '../kube/watch.ts'
import type { Logger } from './log.ts'
import { type IndexFunction, type ObjectChange, Store, versionOf } from './store.ts'
import { createTrim, type TrimOptions } from './trim.ts'
import { ALL_NAMESPACES, WatchVersions } from './watch-versions.ts'

export interface CacheOptions<T extends KubeObject> extends TrimOptions<T> {
  readonly resource: Resource<T>
  /** The namespaces to watch, each by its own watch. Empty or omitted: all, by one watch. */
  readonly namespaces?: readonly string[]
  /** Label keys to index: see `byLabel`. */
  readonly labels?: readonly string[]
  /** Further indexes by name: see `byIndex`. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
}

/** A change. `initial` is true for objects of the first list. */
export type CacheEvent<T> = ObjectChange<T> & { readonly initial: boolean }

export type Listener<T> = (event: CacheEvent<T>) => void

/** A write of this process, with what a cache needs to decide whether it has observed it. */
export type Write =
  | {
      readonly uid: string
      readonly resourceVersion: string
      /** The namespace of the object. Omitted: the cache has observed the write when all its watches have passed it. */
      readonly namespace?: string
      readonly deleted?: never
    }
  | { readonly uid: string; readonly deleted: true }

/** Opens the watch of one namespace, or of all. It passes the trim on, so that objects are reduced as soon as they are decoded. */
export type OpenWatch<T extends KubeObject> = (
  trim: (object: T) => T,
  scope: { readonly namespace?: string },
) => AsyncIterable<WatchUpdate<T>>

const NAMESPACE = 'namespace'
const OWNER = 'owner'

export class Cache<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly #log: Logger
  readonly #trim: (object: T) => T
  readonly #store: Store<T>
  readonly #versions: WatchVersions
  readonly #listeners: Listener<T>[] = []
  readonly #servedListeners: (() => void)[] = []
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #isServed = true
  #rewinds = 0

  constructor(options: CacheOptions<T>) {
    this.resource = options.resource
    this.#log = options.log
    this.#trim = createTrim(options)
    this.#versions = new WatchVersions(options.namespaces ?? [])
    this.#store = new Store<T>({
      [NAMESPACE]: (object) => [object.metadata.namespace ?? ''],
      [OWNER]: (object) => object.metadata.ownerReferences?.map((owner) => owner.uid) ?? [],
      ...Object.fromEntries((options.labels ?? []).map((label) => [labelIndex(label), valueOfLabel(label)])),
      ...options.indexes,
    })
  }

  /** Resolves after the first list of every watch, or when it is certain that the cluster does not serve the kind. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Whether the cluster serves the kind. Only an optional kind can be missing. */
  get isServed(): boolean {
    return this.#isServed
  }

  get size(): number {
    return this.#store.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.byKey(key)
  }

  /** Whether an object of this name was deleted recently. */
  hasGone(key: ObjectKey): boolean {
    return this.#store.hasGone(key)
  }

  list(options: { readonly namespace?: string } = {}): readonly T[] {
    return options.namespace === undefined ? this.#store.all() : this.#store.byIndex(NAMESPACE, options.namespace)
  }

  /** All objects with this uid among their owners. */
  ownedBy(uid: string): readonly T[] {
    return this.#store.byIndex(OWNER, uid)
  }

  /** The label key must be among `labels`. */
  byLabel(label: string, value: string): readonly T[] {
    return this.#store.byIndex(labelIndex(label), value)
  }

  /** The index must be among `indexes`. */
  byIndex(name: string, value: string): readonly T[] {
    return this.#store.byIndex(name, value)
  }

  /** Listeners are called synchronously and in order, after the cache has changed. */
  onChange(listener: Listener<T>): void {
    this.#listeners.push(listener)
  }

  /** Calls the listener whenever the cluster starts or stops serving the kind. */
  onServed(listener: () => void): void {
    this.#servedListeners.push(listener)
  }

  /** The cluster does not serve the kind: the cache is empty until a watch lists it again. */
  empty(): void {
    const deletions = this.#store.clear()
    this.#versions.forgetLists()
    for (const change of deletions) this.#notify({ ...change, initial: false })
    this.#serve(false)
    this.#finishSync()
  }

  /**
   * Whether the cache reflects the write: it has the object in that version or a newer one; or the watch of its namespace
   * has passed that version, so the object has changed or is gone; or, for a deletion, the object is gone or terminating.
   */
  hasSeen(write: Write): boolean {
    const known = this.#store.byUid(write.uid)
    if (write.deleted) return known === undefined || known.metadata.deletionTimestamp !== undefined
    const reached = (version: string): boolean => !isOlder(version, write.resourceVersion)
    return reached(this.#versions.of(write.namespace)) || (known !== undefined && reached(versionOf(known)))
  }

  /** Counts restores of etcd from a backup: such a restore may have undone earlier writes, so no reader waits for them. */
  get epoch(): number {
    return this.#rewinds
  }

  /** The object as this cache would keep it. */
  trimmed(object: T): T {
    return this.#trim(object)
  }

  /** Follows a watch of each namespace until they end. */
  async follow(open: OpenWatch<T>): Promise<void> {
    const all = this.#versions.watches.map(async (name) => {
      const scope = name === ALL_NAMESPACES ? {} : { namespace: name }
      for await (const update of open(this.#trim, scope)) this.#take(update, name)
    })
    await Promise.all(all)
  }

  #take(update: WatchUpdate<T>, watch: string): void {
    const initial = !this.#hasSynced
    const changes = this.#change(update, watch)
    this.#versions.advance(watch, 'object' in update ? versionOf(update.object) : update.resourceVersion)
    for (const change of changes) this.#notify({ ...change, initial })
    if (update.type !== 'replace') return
    this.#versions.listed(watch)
    if (!this.#versions.allListed) return
    this.#serve(true)
    this.#finishSync()
  }

  #change(update: WatchUpdate<T>, watch: string): ObjectChange<T>[] {
    if (update.type === 'replace') return this.#replace(update.items, update.resourceVersion, watch)
    if (update.type === 'delete') return this.#store.delete(update.object)
    return update.type === 'apply' && this.#isNewer(update.object, watch) ? this.#store.put(update.object) : []
  }

  #replace(items: readonly T[], resourceVersion: string, watch: string): ObjectChange<T>[] {
    const known = this.list(watch === ALL_NAMESPACES ? {} : { namespace: watch })
    if (!isOlder(resourceVersion, this.#versions.of(watch))) return this.#store.replace(items, known)
    this.#rewinds += 1
    this.#versions.rewind(watch, resourceVersion)
    this.#log.warn(
      { kind: this.resource.kind, resourceVersion },
      'the server went back to an older state: was etcd restored from a backup?',
    )
    return [...known.flatMap((object) => this.#store.delete(object)), ...this.#store.replace(items, [])]
  }

  /** Each change that a watch delivers has a later version than all before it. Anything else is a repeated, older event. */
  #isNewer(object: T, watch: string): boolean {
    return isOlder(this.#versions.of(watch), versionOf(object))
  }

  #serve(isServed: boolean): void {
    if (this.#isServed === isServed) return
    this.#isServed = isServed
    for (const listener of this.#servedListeners) listener()
  }

  #finishSync(): void {
    this.#hasSynced = true
    this.#synced.resolve()
  }

  #notify(event: CacheEvent<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#log.error({ err: error, kind: this.resource.kind, change: event.type }, 'a cache listener failed')
      }
    }
  }
}

function labelIndex(label: string): string {
  return `label:${label}`
}

function valueOfLabel(label: string): (object: KubeObject) => readonly string[] {
  return (object) => {
    const value = object.metadata.labels?.[label]
    return value === undefined ? [] : [value]
  }
}
