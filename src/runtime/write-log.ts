/**
 * The writes of each key that the caches do not reflect yet: the basis of read-your-writes. A write whose response was
 * lost is not recorded here. Its reconcile has failed, and deterministic names, uids and resourceVersions make the
 * repetition safe.
 */
import type { Client, WriteOptions } from '../kube/client.ts'
import { apiVersionOf, keyString, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import { Pod } from '../kube/resources.ts'
import type { Cache, Write } from './cache.ts'
import type { Caches } from './caches.ts'
import { backoffMs, type BackoffPolicy } from './backoff.ts'
import type { Clock } from './clock.ts'

interface Pending {
  readonly writes: Set<{ readonly kind: string; isSeen(): boolean }>
  readonly since: number
  checks: number
}

export interface Staleness {
  /** Kinds whose cache is stale. */
  readonly kinds: readonly string[]
  readonly forMs: number
  /** Time until the next check. */
  readonly checkAfterMs: number
}

const CHECKS: BackoffPolicy = { baseMs: 10, factor: 2, maxMs: 1_000, jitter: 0.2 }

export class WriteLog {
  readonly #caches: Pick<Caches, 'allHolding' | 'ofKind'>
  readonly #clock: Clock
  readonly #pending = new Map<string, Pending>()

  constructor(caches: Pick<Caches, 'allHolding' | 'ofKind'>, clock: Clock) {
    this.#caches = caches
    this.#clock = clock
  }

  /** Undefined if the caches reflect all writes of the key; else how stale they are. */
  staleness(key: ObjectKey, random: number): Staleness | undefined {
    const pending = this.#pending.get(keyString(key))
    if (!pending) return undefined
    for (const write of pending.writes) if (write.isSeen()) pending.writes.delete(write)
    if (pending.writes.size === 0) return void this.#pending.delete(keyString(key))
    pending.checks += 1
    return {
      kinds: [...new Set([...pending.writes].map(({ kind }) => kind))],
      forMs: this.#clock.monotonic() - pending.since,
      checkAfterMs: backoffMs(CHECKS, pending.checks, random),
    }
  }

  /** Records a write of the key that these caches have to reflect. */
  record(key: ObjectKey, write: Write, caches: readonly Cache[]): void {
    for (const cache of caches.filter((one) => !one.hasSeen(write))) {
      const id = keyString(key)
      const pending = this.#pending.get(id) ?? { writes: new Set(), since: this.#clock.monotonic(), checks: 0 }
      const { epoch, resource } = cache
      pending.writes.add({ kind: resource.kind, isSeen: () => cache.epoch !== epoch || cache.hasSeen(write) })
      this.#pending.set(id, pending)
    }
  }

  /** A client that records all its writes for this key. */
  clientFor(key: ObjectKey, client: Client): Client {
    const wrote = <T extends KubeObject>(resource: Resource<T>, options: WriteOptions | undefined, object: T): T => {
      const { metadata } = object
      const { uid, resourceVersion, namespace } = metadata
      const caches = this.#caches.allHolding({ ...kindOf(resource), metadata })
      const write = { uid: uid ?? '', resourceVersion: resourceVersion ?? '', ...(namespace && { namespace }) }
      if (uid && resourceVersion && !options?.dryRun) this.record(key, write, caches)
      return object
    }
    const removed = (resource: Resource, target: ObjectKey, known?: string): void => {
      for (const cache of this.#caches.ofKind(kindOf(resource))) {
        const uid = known ?? cache.get(target)?.metadata.uid
        if (uid !== undefined) this.record(key, { uid, deleted: true }, [cache])
      }
    }
    return recordingClient(client, wrote, removed)
  }
}

function kindOf(resource: Resource): Pick<KubeObject, 'apiVersion' | 'kind'> {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind }
}

type Wrote = <T extends KubeObject>(resource: Resource<T>, options: WriteOptions | undefined, object: T) => T
type Removed = (resource: Resource, key: ObjectKey, uid?: string) => void

function recordingClient(client: Client, wrote: Wrote, removed: Removed): Client {
  return {
    server: client.server,
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    pages: (resource, options) => client.pages(resource, options),
    logs: (pod, options) => client.logs(pod, options),
    streamLogs: (pod, options) => client.streamLogs(pod, options),
    streamLogBytes: (pod, options) => client.streamLogBytes(pod, options),
    openWatch: (resource, options) => client.openWatch(resource, options),
    request: (call, options) => client.request(call, options),
    close: () => client.close(),
    create: async (resource, object, options) =>
      wrote(resource, options, await client.create(resource, object, options)),
    update: async (resource, object, options) =>
      wrote(resource, options, await client.update(resource, object, options)),
    patch: async (resource, key, patch, options) =>
      wrote(resource, options, await client.patch(resource, key, patch, options)),
    apply: async (resource, object, options) => wrote(resource, options, await client.apply(resource, object, options)),
    delete: async (resource, key, options) => {
      await client.delete(resource, key, options)
      if (!options?.dryRun) removed(resource, key, options?.uid)
    },
    evict: async (pod, options) => {
      await client.evict(pod, options)
      if (!options?.dryRun) removed(Pod, pod, options?.uid)
    },
  }
}
