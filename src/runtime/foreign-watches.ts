/**
 * Watches the objects of name conflicts, so that their deletion triggers a retry at once. Caches do not contain them: those
 * select the operator's own objects by label.
 *
 * Guarantees
 * - Each object is watched by name, with one watch per key however often the conflict repeats.
 * - At most `MAX_WATCHES` watches. `follow` returns false above the limit; the caller then retries after a delay.
 * - A change between the failed write and the start of the watch is not missed: a watch starts with a list.
 */
import type { Client } from '../kube/client.ts'
import { controllerOf, keyOf, keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { watch, type WatchUpdate } from '../kube/watch.ts'
import type { ForeignObject } from './name-conflict.ts'

interface Followed {
  /** Identifies the objects and their controllers: a repeated conflict keeps the watches. */
  readonly identity: string
  readonly size: number
  readonly abort: AbortController
}

const MAX_WATCHES = 100

export class ForeignWatches {
  readonly #client: Client
  readonly #wake: (key: ObjectKey) => void
  readonly #followed = new Map<string, Followed>()
  #isClosed = false

  constructor(client: Client, wake: (key: ObjectKey) => void) {
    this.#client = client
    this.#wake = wake
  }

  /** Wakes the key when one of the objects is deleted or gets another controller. False if there are too many watches. */
  follow(key: ObjectKey, objects: readonly ForeignObject[]): boolean {
    if (this.#isClosed) return true
    const id = keyString(key)
    const identity = identityOf(objects)
    if (this.#followed.get(id)?.identity === identity) return true
    this.release(key)
    if (this.#size + objects.length > MAX_WATCHES) return false
    const abort = new AbortController()
    this.#followed.set(id, { identity, size: objects.length, abort })
    for (const foreign of objects) void this.#watch(key, foreign, abort.signal)
    return true
  }

  /** Stops the watches of a key whose conflict is resolved. */
  release(key: ObjectKey): void {
    const id = keyString(key)
    this.#followed.get(id)?.abort.abort()
    this.#followed.delete(id)
  }

  close(): void {
    this.#isClosed = true
    for (const { abort } of this.#followed.values()) abort.abort()
    this.#followed.clear()
  }

  get #size(): number {
    return [...this.#followed.values()].reduce((sum, { size }) => sum + size, 0)
  }

  async #watch(key: ObjectKey, { resource, object }: ForeignObject, signal: AbortSignal): Promise<void> {
    const { namespace, name } = keyOf(object)
    const selection = { fieldSelector: `metadata.name=${name}`, ...(namespace !== undefined && { namespace }) }
    const updates = watch(this.#client, resource, { ...selection, signal, transform: metadataOnly })
    for await (const update of updates) if (isResolved(update, object)) this.#wake(key)
  }
}

function isResolved(update: WatchUpdate<KubeObject>, foreign: KubeObject): boolean {
  if (update.type === 'bookmark') return false
  if (update.type === 'replace') return !update.items.some((item) => isUnchanged(item, foreign))
  return update.type === 'delete' || !isUnchanged(update.object, foreign)
}

/** The same object with the same controller. */
function isUnchanged(one: KubeObject, other: KubeObject): boolean {
  return one.metadata.uid === other.metadata.uid && controllerOf(one)?.uid === controllerOf(other)?.uid
}

function identityOf(objects: readonly ForeignObject[]): string {
  return objects
    .map(({ object }) => `${object.metadata.uid ?? ''} ${controllerOf(object)?.uid ?? ''}`)
    .toSorted()
    .join()
}

function metadataOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata }
}
