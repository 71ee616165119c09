/**
 * Brings one child to its intended state by server-side apply, or skips the write if it is already there.
 *
 * A write is skipped if the cached object has the digest of this intent, shows every intended field (see `drift`) and has
 * no fields that others added (see `additions`). Such fields are removed first, by a patch with the observed
 * resourceVersion, because an apply does not remove them. If the server stores something other than the intent, such as a
 * value that a webhook rewrites, the difference is remembered and accepted: it costs one write per process, not one per
 * reconcile.
 */
import type { Client } from '../kube/client.ts'
import { isConflict } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { Cache } from './cache.ts'
import type { Caches } from './caches.ts'
import { additions, REPAIR_MANAGER } from './foreign-fields.ts'
import { drift, marked } from './intent.ts'
import type { Note } from './log.ts'
import type { ForeignObject } from './name-conflict.ts'
import { controlled, isControlledBy } from './ownership.ts'
import { mergePatch } from './status.ts'

export type Applied =
  | { readonly action: 'applied' | 'skipped' }
  /** An object of that name exists that the owner does not control: it was not changed. */
  | { readonly action: 'conflict'; readonly foreign: ForeignObject }

export interface WriteCall {
  readonly client: Client
  readonly signal: AbortSignal
  /** Default: decisions are not logged. */
  readonly note?: Note
}

/**
 * The resourceVersion of an empty store, which no object has. An apply with it never updates: the server creates the
 * object if there is none, and answers Conflict if there is one.
 */
const NOT_EXISTING = '1'

const MAX_ACCEPTED = 10_000

/** Where an object differs from its intent, and what others added to it. */
interface Differences {
  readonly drifted: readonly string[]
  readonly added: readonly string[]
}

interface Writing {
  readonly intent: KubeObject
  readonly call: WriteCall
  /** What others had added at the time of the comparison. */
  readonly added: readonly string[]
}

const APPLIED = { action: 'applied' } as const
const SKIPPED = { action: 'skipped' } as const

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

  /** The cache of the object's kind. Every kind that is committed must have one. */
  cacheOf(object: KubeObject): Cache {
    const cache = this.#caches.holding(object)
    if (!cache) throw new Error(`${object.kind} is written but not cached: watch it, so that writes can be compared`)
    return cache
  }

  /** The cache may not have the object yet, so the request creates and never updates. */
  async #create(owner: KubeObject, intent: KubeObject, call: WriteCall): Promise<Applied> {
    const { resource } = this.cacheOf(intent)
    const request = { ...intent, metadata: { ...intent.metadata, resourceVersion: NOT_EXISTING } }
    try {
      await this.#write(request, { intent, call, added: [] })
      return APPLIED
    } catch (error) {
      if (!isConflict(error)) throw error
      return this.#update(owner, intent, await call.client.get(resource, keyOf(intent), { signal: call.signal }), call)
    }
  }

  async #update(owner: KubeObject, intent: KubeObject, live: KubeObject, call: WriteCall): Promise<Applied> {
    if (!isControlledBy(live, owner)) return { action: 'conflict', foreign: this.#foreign(intent, live) }
    if (live.metadata.deletionTimestamp !== undefined) return SKIPPED
    const { drifted, added } = this.#differences(intent, live)
    const differences = [...drifted, ...added].join('\n')
    const { uid = '' } = live.metadata
    if (differences === '' || differences === this.#accepted.get(uid)) return SKIPPED
    await this.#removeAdditions(intent, live, call)
    await this.#write({ ...intent, metadata: { ...intent.metadata, uid } }, { intent, call, added })
    return APPLIED
  }

  #foreign(intent: KubeObject, live: KubeObject): ForeignObject {
    const { apiVersion, kind } = intent
    return { resource: this.cacheOf(intent).resource, object: { ...live, apiVersion, kind } }
  }

  /** Patches only the observed version: the next reconcile resolves a conflict with a later change. */
  async #removeAdditions(intent: KubeObject, live: KubeObject, { client, signal }: WriteCall): Promise<void> {
    const cache = this.cacheOf(intent)
    const observed = cache.trimmed(live)
    const patch = mergePatch(observed, additions(cache.trimmed(intent), observed).without) as object | undefined
    if (patch === undefined) return
    const { uid, resourceVersion } = live.metadata
    const body = { ...patch, metadata: { uid, resourceVersion } }
    await client.patch(cache.resource, keyOf(live), body, { fieldManager: REPAIR_MANAGER, signal })
  }

  async #write(request: KubeObject, { intent, call, added }: Writing): Promise<void> {
    const { client, signal } = call
    const answer = await client.apply(this.cacheOf(intent).resource, request, { force: true, signal })
    const left = this.#differences(intent, answer)
    // Additions made since are not accepted: their watch event triggers the next reconcile.
    const kept = left.added.filter((addition) => added.includes(addition))
    this.#accept(answer.metadata.uid ?? '', [...left.drifted, ...kept].join('\n'))
  }

  /** Compares both sides as the cache trims them. Trimmed fields are covered by the digest alone. */
  #differences(intent: KubeObject, live: KubeObject): Differences {
    const cache = this.cacheOf(intent)
    const [wanted, observed] = [cache.trimmed(intent), cache.trimmed(live)]
    return { drifted: drift(wanted, observed), added: additions(wanted, observed).found }
  }

  #accept(uid: string, differences: string): void {
    this.#accepted.delete(uid)
    if (differences !== '') this.#accepted.set(uid, differences)
    const [oldest] = this.#accepted.keys()
    if (oldest !== undefined && this.#accepted.size > MAX_ACCEPTED) this.#accepted.delete(oldest)
  }
}
