/**
 * Watches a kind that the cluster may not serve, such as a custom resource of another product. While the kind is missing,
 * its cache is empty and counts as synced. When the kind appears, it is watched; when it disappears, the cache is emptied.
 *
 * Discovery is polled, because every client may read it, also without permission to read CRDs. A kind counts as missing
 * only if discovery says so twice. A 404 of a watch or of one replica of the API server, or a failed request, changes
 * nothing.
 */
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { apiVersionOf, type KubeObject, type Resource } from '../kube/object.ts'
import { watch, type WatchOptions, type WatchState } from '../kube/watch.ts'
import type { Cache } from './cache.ts'
import { type Clock, pause } from './clock.ts'
import type { Logger } from './log.ts'

export interface OptionalKindDeps<T extends KubeObject> {
  readonly client: Client
  readonly log: Logger
  readonly clock: Clock
  readonly watch: Omit<WatchOptions<T>, 'transform' | 'namespace'>
  /** Interval at which discovery is polled for a missing kind. */
  readonly pollMs?: number
}

const POLL_MS = 30_000
/** Retry interval after a failed request: the manager cannot start without an answer. */
const RETRY_MS = 1_000
/** Time between the two answers that a kind is missing. */
const CONFIRM_MS = 1_000

export async function followWhileServed<T extends KubeObject>(
  cache: Cache<T>,
  deps: OptionalKindDeps<T>,
): Promise<void> {
  const { log, clock, pollMs = POLL_MS } = deps
  const { signal } = deps.watch
  const { kind } = cache.resource
  while (!signal.aborted) {
    const served = cache.isServed ? await isServedConfirmed(cache.resource, deps) : await isServed(cache.resource, deps)
    if (served === true) {
      log.info({ kind }, 'the cluster serves an optional kind')
      await followUntilGone(cache, deps)
    } else if (served === false) cache.empty()
    await pause(clock, served === undefined ? RETRY_MS : pollMs, signal)
  }
}

/** False only if discovery has said twice that the kind is missing. */
async function isServedConfirmed<T extends KubeObject>(
  resource: Resource<T>,
  deps: OptionalKindDeps<T>,
): Promise<boolean | undefined> {
  const first = await isServed(resource, deps)
  if (first !== false) return first
  await pause(deps.clock, Math.min(deps.pollMs ?? CONFIRM_MS, CONFIRM_MS), deps.watch.signal)
  return isServed(resource, deps)
}

/** Undefined if the request failed. */
async function isServed<T extends KubeObject>(
  resource: Resource<T>,
  { client, log, watch: { signal } }: OptionalKindDeps<T>,
): Promise<boolean | undefined> {
  try {
    const path = `/apis/${apiVersionOf(resource)}`
    const list = (await client.request({ method: 'GET', path }, { signal })) as {
      readonly resources?: readonly { readonly name: string }[]
    }
    return list.resources?.some(({ name }) => name === resource.plural) ?? false
  } catch (error) {
    if (isNotFound(error)) return false
    if (!signal.aborted) log.warn({ err: error, kind: resource.kind }, 'discovery of an optional kind failed')
    return undefined
  }
}

/** Watches the kind until discovery confirms that it is gone, then empties the cache. */
async function followUntilGone<T extends KubeObject>(cache: Cache<T>, deps: OptionalKindDeps<T>): Promise<void> {
  const { client, log } = deps
  const { signal, onState, ...selection } = deps.watch
  const gone = new AbortController()
  let isAsking = false
  const confirm = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    if ((await isServedConfirmed(cache.resource, deps)) === false) gone.abort()
    isAsking = false
  }
  const note = (state: WatchState): void => {
    if (state.phase === 'waiting' && isNotFound(state.error)) void confirm()
    else onState?.(state)
  }
  const until = AbortSignal.any([signal, gone.signal])
  await cache.follow((transform, scope) =>
    watch(client, cache.resource, { ...selection, ...scope, signal: until, transform, onState: note }),
  )
  if (signal.aborted) return
  log.info({ kind: cache.resource.kind }, 'the cluster no longer serves an optional kind')
  cache.empty()
}
