/**
 * The objects of one kind, by uid and by name, and the rules by which a new sighting may change them. Pure
 * bookkeeping: `Cache` feeds it and tells the world.
 */
import { keyOf, keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { isOlder } from '../kube/resource-version.ts'

export type Change<T> =
  | { readonly type: 'add'; readonly object: T }
  | { readonly type: 'update'; readonly object: T; readonly previous: T }
  | { readonly type: 'delete'; readonly object: T }

/** The values under which an object is found again; none means that it is not in this index. */
export type IndexFunction<T> = (object: T) => readonly string[]

/** How many names of what has gone are remembered. */
const REMEMBERED = 10_000

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

  /** Whether something of this name was here and went, not too long ago. */
  hasGone(key: ObjectKey): boolean {
    return this.#gone.has(keyString(key))
  }

  all(): T[] {
    return [...this.#objects.values()]
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`there is no index ${name}; declare it where the cache is created`)
    return index.find(value).map((uid) => this.#objects.get(uid) as T)
  }

  /** Takes in one sighting. An older one than is known changes nothing; another uid under the name replaces by delete and add. */
  put(object: T): Change<T>[] {
    const previous = this.#objects.get(uidOf(object))
    if (previous) return isNewer(object, previous) ? [this.#update(object, previous)] : []
    const namesake = this.byKey(keyOf(object))
    if (!namesake) return [this.#add(object)]
    return isNewer(object, namesake) ? [this.#remove(namesake), this.#add(object)] : []
  }

  /** Removes the very object that was deleted: a namesake with another uid stays. */
  delete(object: T): Change<T>[] {
    const known = this.#objects.get(uidOf(object))
    return known ? [this.#remove(known)] : []
  }

  /** Makes the store equal to a list. Deletions come first, so that a name that changed hands is deleted, then added. */
  replace(items: readonly T[]): Change<T>[] {
    const listed = new Set(items.map(uidOf))
    const gone = this.all().filter((known) => !listed.has(uidOf(known)))
    return [...gone.map((object) => this.#remove(object)), ...items.flatMap((item) => this.put(item))]
  }

  clear(): Change<T>[] {
    return this.all().map((object) => this.#remove(object))
  }

  #add(object: T): Change<T> {
    const uid = uidOf(object)
    const name = keyString(keyOf(object))
    this.#objects.set(uid, object)
    this.#uids.set(name, uid)
    this.#gone.delete(name)
    for (const index of this.#indexes.values()) index.insert(uid, object)
    return { type: 'add', object }
  }

  #update(object: T, previous: T): Change<T> {
    const uid = uidOf(object)
    this.#objects.set(uid, object)
    for (const index of this.#indexes.values()) index.move(uid, previous, object)
    return { type: 'update', object, previous }
  }

  #remove(object: T): Change<T> {
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
    if (oldest !== undefined && this.#gone.size > REMEMBERED) this.#gone.delete(oldest)
  }
}

/** Index value → uids. A function that throws leaves the object out of this index, never out of the store. */
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
    for (const value of this.#valuesOf(object)) {
      const uids = this.#uids.get(value)
      if (uids) uids.add(uid)
      else this.#uids.set(value, new Set([uid]))
    }
  }

  withdraw(uid: string, object: T): void {
    for (const value of this.#valuesOf(object)) {
      const uids = this.#uids.get(value)
      uids?.delete(uid)
      if (uids?.size === 0) this.#uids.delete(value)
    }
  }

  move(uid: string, previous: T, object: T): void {
    this.withdraw(uid, previous)
    this.insert(uid, object)
  }

  #valuesOf(object: T): readonly string[] {
    try {
      return this.#values(object)
    } catch {
      return []
    }
  }
}

export function uidOf(object: KubeObject): string {
  return object.metadata.uid ?? ''
}

export function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '0'
}

function isNewer(one: KubeObject, other: KubeObject): boolean {
  return isOlder(versionOf(other), versionOf(one))
}
