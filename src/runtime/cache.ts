/**
 * What the API server holds of one kind, in memory and indexed, kept up to date by a watch.
 *
 * Guarantees
 * - After `synced`, the cache is a state that the server had, at most as old as the watch is behind. It never moves
 *   back: an older version of an object never replaces a newer one, unless the watch reports that the server's whole
 *   history has been rewound (etcd restored from a backup) by a list older than what was known.
 * - Objects are told apart by uid. A name that was deleted and created again, even unseen across a relist, arrives as
 *   `delete` then `add`; a late deletion of the old object leaves the new one alone.
 * - Read-your-writes: `hasSeen(write)` says whether a write that this process made is reflected here. The controller
 *   runs no reconcile of a key before all writes of that key's last reconcile are.
 * - A listener that throws stops neither the cache nor the other listeners.
 * - Objects are frozen in meaning: shared by all readers, trimmed of `managedFields`. Nobody may change them.
 *
 * Assumptions
 * - The watch delivers in the order of the server, refuses stale lists, and heals itself (`kube/watch.ts`).
 */
import type { KubeObject, ObjectKey, Resource } from '../kube/object.ts'
import { isOlder } from '../kube/resource-version.ts'
import type { WatchUpdate } from '../kube/watch.ts'
import type { Logger } from './log.ts'
import { type Change, type IndexFunction, Store, versionOf } from './store.ts'

export interface CacheOptions<T extends KubeObject> {
  readonly resource: Resource<T>
  readonly log: Logger
  /** Drops what nobody reads, before it is kept. Must not drop name, namespace, uid, resourceVersion or owners. */
  readonly trim?: (object: T) => T
  /** Label keys to find objects by: see `byLabel`. */
  readonly labels?: readonly string[]
  /** Further indexes by name: see `byIndex`. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
}

/** A change, and whether it only tells what was there before the cache started. */
export type CacheEvent<T> = Change<T> & { readonly initial: boolean }

export type Listener<T> = (event: CacheEvent<T>) => void

/** A write of this process, as far as a cache can tell whether it has seen it. */
export type Write =
  | { readonly uid: string; readonly resourceVersion: string; readonly deleted?: never }
  | { readonly uid: string; readonly deleted: true }

const NAMESPACE = 'namespace'
const OWNER = 'owner'

export class Cache<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly #log: Logger
  readonly #trim: (object: T) => T
  readonly #store: Store<T>
  readonly #listeners: Listener<T>[] = []
  readonly #servedListeners: (() => void)[] = []
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #isServed = true
  #resourceVersion = '0'
  #rewinds = 0

  constructor(options: CacheOptions<T>) {
    this.resource = options.resource
    this.#log = options.log
    this.#trim = trimmer(options)
    this.#store = new Store<T>({
      [NAMESPACE]: (object) => [object.metadata.namespace ?? ''],
      [OWNER]: (object) => object.metadata.ownerReferences?.map((owner) => owner.uid) ?? [],
      ...Object.fromEntries((options.labels ?? []).map((label) => [labelIndex(label), valueOfLabel(label)])),
      ...options.indexes,
    })
  }

  /** Resolves when the first list is in, or it is certain that the cluster does not serve the kind. */
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

  /** Whether something of this name was here and went, not too long ago. */
  hasGone(key: ObjectKey): boolean {
    return this.#store.hasGone(key)
  }

  list(options: { readonly namespace?: string } = {}): readonly T[] {
    return options.namespace === undefined ? this.#store.all() : this.#store.byIndex(NAMESPACE, options.namespace)
  }

  /** Everything that names this uid among its owners. */
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

  /** Listeners are called in order, after the cache has changed, with nothing awaited. */
  onChange(listener: Listener<T>): void {
    this.#listeners.push(listener)
  }

  /** Called whenever the kind comes to be served, or ceases to be. */
  onServed(listener: () => void): void {
    this.#servedListeners.push(listener)
  }

  /** The cluster does not serve the kind: there is nothing of it until a watch says otherwise. */
  empty(): void {
    const gone = this.#store.clear()
    for (const change of gone) this.#tell({ ...change, initial: false })
    this.#serve(false)
    this.#finishSync()
  }

  /**
   * Whether the write is reflected here: the object is there at least as new; or the cache as a whole has passed that
   * version, so the object has changed or gone since; or, for a deletion, the object is gone or going.
   */
  hasSeen(write: Write): boolean {
    const known = this.#store.byUid(write.uid)
    if (write.deleted) return known === undefined || known.metadata.deletionTimestamp !== undefined
    const reached = (version: string): boolean => !isOlder(version, write.resourceVersion)
    return reached(this.#resourceVersion) || (known !== undefined && reached(versionOf(known)))
  }

  /** Counts how often the server's history was rewound: a write from before may have been undone and is waited for in vain. */
  get epoch(): number {
    return this.#rewinds
  }

  /** The object as this cache would keep it. */
  trimmed(object: T): T {
    return this.#trim(object)
  }

  /**
   * Follows a watch until it ends, which it does when its signal aborts. The watch is given the trim, so that what
   * nobody needs is dropped as soon as it is decoded.
   */
  async follow(watch: (trim: (object: T) => T) => AsyncIterable<WatchUpdate<T>>): Promise<void> {
    for await (const update of watch(this.#trim)) this.#take(update)
  }

  #take(update: WatchUpdate<T>): void {
    const initial = !this.#hasSynced
    const changes = this.#change(update)
    this.#advance('object' in update ? versionOf(update.object) : update.resourceVersion)
    for (const change of changes) this.#tell({ ...change, initial })
    if (update.type !== 'replace') return
    this.#serve(true)
    this.#finishSync()
  }

  #change(update: WatchUpdate<T>): Change<T>[] {
    if (update.type === 'replace') return this.#replace(update.items, update.resourceVersion)
    if (update.type === 'delete') return this.#store.delete(update.object)
    return update.type === 'apply' && this.#isNews(update.object) ? this.#store.put(update.object) : []
  }

  #replace(items: readonly T[], resourceVersion: string): Change<T>[] {
    if (!isOlder(resourceVersion, this.#resourceVersion)) return this.#store.replace(items)
    this.#rewinds += 1
    this.#resourceVersion = resourceVersion
    this.#log.warn({ kind: this.resource.kind, resourceVersion }, 'the history of the server was rewound')
    return [...this.#store.clear(), ...this.#store.replace(items)]
  }

  /** Within one kind every change has a later version than all before it; anything else is an echo of the past. */
  #isNews(object: T): boolean {
    return isOlder(this.#resourceVersion, versionOf(object))
  }

  #advance(resourceVersion: string): void {
    if (isOlder(this.#resourceVersion, resourceVersion)) this.#resourceVersion = resourceVersion
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

  #tell(event: CacheEvent<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#log.error({ err: error, kind: this.resource.kind, change: event.type }, 'a listener threw')
      }
    }
  }
}

/** A trim that throws leaves the object whole: one odd object must not stop the cache. */
function trimmer<T extends KubeObject>({ trim, log }: CacheOptions<T>): (object: T) => T {
  if (!trim) return withoutManagedFields
  return (object) => {
    const lean = withoutManagedFields(object)
    try {
      return trim(lean)
    } catch (error) {
      log.error({ err: error, kind: object.kind, name: object.metadata.name }, 'an object could not be trimmed')
      return lean
    }
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { managedFields: unknown }
  return { ...object, metadata }
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
