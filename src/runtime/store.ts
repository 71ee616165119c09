/**
 * The objects of one kind by uid, by name and by index, and the rules for updates. It has no I/O: `Cache` feeds it and
 * notifies listeners.
 */
import { keyOf, keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { isOlder } from '../kube/resource-version.ts'

export type ObjectChange<T> =
  | { readonly type: 'add'; readonly object: T }
  | { readonly type: 'update'; readonly object: T; readonly previous: T }
  | { readonly type: 'delete'; readonly object: T }

/** The index values of an object; none if it is not in the index. */
export type IndexFunction<T> = (object: T) => readonly string[]

/** The number of deleted names that are remembered. */
const MAX_DELETED_NAMES = 10_000

export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #uids = new Map<string, string>()
  readonly #gone = new Set<string>()
  readonly #indexes: ReadonlyMap<string, Index<T>>

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>>) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, values]) => [name, new Index(values)]))
  }

  get size(): number {
    return this.#objects.size
  }

  byUid(uid: string): T | undefined {
    return this.#objects.get(uid)
  }

  byKey(key: ObjectKey): T | undefined {
    const uid = this.#uids.get(keyString(key))
    return uid === undefined ? undefined : this.#objects.get(uid)
  }

  /** Whether an object of this name was deleted recently. */
  hasGone(key: ObjectKey): boolean {
    return this.#gone.has(keyString(key))
  }

  all(): T[] {
    return [...this.#objects.values()]
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`there is no index ${name}: declare it where the cache is created`)
    return index.find(value).map((uid) => this.#objects.get(uid) as T)
  }

  /** Adds or updates an object. Ignores older versions. A new uid under a known name is a delete, then an add. */
  put(object: T): ObjectChange<T>[] {
    const previous = this.#objects.get(uidOf(object))
    if (previous) return isNewer(object, previous) ? [this.#update(object, previous)] : []
    const namesake = this.byKey(keyOf(object))
    if (!namesake) return [this.#add(object)]
    return isNewer(object, namesake) ? [this.#remove(namesake), this.#add(object)] : []
  }

  /** Removes the object by uid: another object of the same name stays. */
  delete(object: T): ObjectChange<T>[] {
    const known = this.#objects.get(uidOf(object))
    return known ? [this.#remove(known)] : []
  }

  /**
   * Replaces `known`, the objects that the watch has delivered so far, by a list. Deletions come first, so that a recreated
   * object is a delete, then an add.
   */
  replace(items: readonly T[], known: readonly T[]): ObjectChange<T>[] {
    const listed = new Set(items.map(uidOf))
    const gone = known.filter((object) => !listed.has(uidOf(object)))
    return [...gone.map((object) => this.#remove(object)), ...items.flatMap((item) => this.put(item))]
  }

  clear(): ObjectChange<T>[] {
    return this.all().map((object) => this.#remove(object))
  }

  #add(object: T): ObjectChange<T> {
    const uid = uidOf(object)
    const name = keyString(keyOf(object))
    this.#objects.set(uid, object)
    this.#uids.set(name, uid)
    this.#gone.delete(name)
    for (const index of this.#indexes.values()) index.insert(uid, object)
    return { type: 'add', object }
  }

  #update(object: T, previous: T): ObjectChange<T> {
    const uid = uidOf(object)
    this.#objects.set(uid, object)
    for (const index of this.#indexes.values()) index.move(uid, previous, object)
    return { type: 'update', object, previous }
  }

  #remove(object: T): ObjectChange<T> {
    const uid = uidOf(object)
    const name = keyString(keyOf(object))
    this.#objects.delete(uid)
    this.#uids.delete(name)
    this.#remember(name)
    for (const index of this.#indexes.values()) index.withdraw(uid, object)
    return { type: 'delete', object }
  }

  #remember(name: string): void {
    this.#gone.add(name)
    const [oldest] = this.#gone
    if (oldest !== undefined && this.#gone.size > MAX_DELETED_NAMES) this.#gone.delete(oldest)
  }
}

/** Index value → uids. If the function throws, the object is missing in this index only, not in the store. */
class Index<T> {
  readonly #values: IndexFunction<T>
  readonly #uids = new Map<string, Set<string>>()

  constructor(values: IndexFunction<T>) {
    this.#values = values
  }

  find(value: string): string[] {
    return [...(this.#uids.get(value) ?? [])]
  }

  insert(uid: string, object: T): void {
    this.#add(uid, this.#valuesOf(object))
  }

  withdraw(uid: string, object: T): void {
    this.#remove(uid, this.#valuesOf(object))
  }

  #add(uid: string, values: readonly string[]): void {
    for (const value of values) {
      const uids = this.#uids.get(value)
      if (uids) uids.add(uid)
      else this.#uids.set(value, new Set([uid]))
    }
  }

  #remove(uid: string, values: readonly string[]): void {
    for (const value of values) {
      const uids = this.#uids.get(value)
      uids?.delete(uid)
      if (uids?.size === 0) this.#uids.delete(value)
    }
  }

  /** An object keeps its position under values that have not changed, so that the order of results is stable. */
  move(uid: string, previous: T, object: T): void {
    const [before, after] = [this.#valuesOf(previous), this.#valuesOf(object)]
    this.#remove(
      uid,
      before.filter((value) => !after.includes(value)),
    )
    this.#add(uid, after)
  }

  #valuesOf(object: T): readonly string[] {
    try {
      return this.#values(object)
    } catch {
      return []
    }
  }
}

function uidOf(object: KubeObject): string {
  return object.metadata.uid ?? ''
}

export function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '0'
}

function isNewer(one: KubeObject, other: KubeObject): boolean {
  return isOlder(versionOf(other), versionOf(one))
}
