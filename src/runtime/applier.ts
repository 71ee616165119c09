/**
 * Brings one child to its intended state by server-side apply, or finds that there is nothing to do.
 *
 * A write is skipped when the cached object is marked with the digest of this very intent and shows every intended
 * field (see `drift`). When the server answers with something else than asked for, such as a value rewritten by a
 * webhook, that answer is remembered and not fought: it costs one write per process, not one per reconcile.
 */
import type { Client } from '../kube/client.ts'
import { isConflict } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { Cache } from './cache.ts'
import type { Caches } from './caches.ts'
import { drift, marked } from './intent.ts'
import { controlled, isControlledBy } from './ownership.ts'

export type Applied = 'applied' | 'skipped' | 'conflict'

export interface WriteCall {
  readonly client: Client
  readonly signal: AbortSignal
}

/**
 * "Must not exist yet", in a request that could also update: the version of an empty store, which no object can have.
 * The server answers Conflict if there is an object, and creates it if there is none.
 */
const UNBORN = '1'

const REMEMBERED = 10_000

export class Applier {
  readonly #caches: Caches
  /** uid → the drift that the server left after our last apply. */
  readonly #accepted = new Map<string, string>()

  constructor(caches: Caches) {
    this.#caches = caches
  }

  async apply(owner: KubeObject, object: KubeObject, call: WriteCall): Promise<Applied> {
    const cache = this.cacheOf(object)
    const intent = marked(controlled(object, owner))
    const live = cache.get(keyOf(intent))
    return live ? this.#update(owner, intent, live, call) : this.#create(owner, intent, call)
  }

  /** The cache of the object's kind, which everything that is committed must have. */
  cacheOf(object: KubeObject): Cache {
    const cache = this.#caches.holding(object)
    if (!cache) throw new Error(`${object.kind} is written but not cached: watch it, or the writes cannot be compared`)
    return cache
  }

  /** The cache may not know it yet, so the server is asked to create and never to touch what is there. */
  async #create(owner: KubeObject, intent: KubeObject, call: WriteCall): Promise<Applied> {
    const { resource } = this.cacheOf(intent)
    const unborn = { ...intent, metadata: { ...intent.metadata, resourceVersion: UNBORN } }
    try {
      await this.#write(unborn, intent, call)
      return 'applied'
    } catch (error) {
      if (!isConflict(error)) throw error
      return this.#update(owner, intent, await call.client.get(resource, keyOf(intent), { signal: call.signal }), call)
    }
  }

  async #update(owner: KubeObject, intent: KubeObject, live: KubeObject, call: WriteCall): Promise<Applied> {
    if (!isControlledBy(live, owner)) return 'conflict'
    if (live.metadata.deletionTimestamp !== undefined) return 'skipped'
    const differences = this.#differences(intent, live)
    const { uid = '' } = live.metadata
    if (differences === '' || differences === this.#accepted.get(uid)) return 'skipped'
    await this.#write({ ...intent, metadata: { ...intent.metadata, uid } }, intent, call)
    return 'applied'
  }

  async #write(request: KubeObject, intent: KubeObject, { client, signal }: WriteCall): Promise<void> {
    const answer = await client.apply(this.cacheOf(intent).resource, request, { force: true, signal })
    this.#accept(answer.metadata.uid ?? '', this.#differences(intent, answer))
  }

  /** Both sides as the cache keeps them: what it trims away is guarded by the digest alone. */
  #differences(intent: KubeObject, live: KubeObject): string {
    const cache = this.cacheOf(intent)
    return drift(cache.trimmed(intent), cache.trimmed(live)).join('\n')
  }

  #accept(uid: string, differences: string): void {
    this.#accepted.delete(uid)
    if (differences !== '') this.#accepted.set(uid, differences)
    const [oldest] = this.#accepted.keys()
    if (oldest !== undefined && this.#accepted.size > REMEMBERED) this.#accepted.delete(oldest)
  }
}
