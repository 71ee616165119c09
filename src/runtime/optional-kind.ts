/**
 * Follows a kind that the cluster may not have: a custom resource of somebody else's product. While it is missing its
 * cache is empty and counts as synced; when it comes, it is watched; when it goes, the cache is emptied.
 *
 * The server's own list of what it serves is asked, on a slow clock: everybody may read it, also where the definitions
 * of custom resources may not be. Only a clear answer counts; a server that cannot say leaves things as they are.
 */
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { apiVersionOf, type KubeObject, type Resource } from '../kube/object.ts'
import { sleep } from '../kube/sleep.ts'
import { watch, type WatchOptions, type WatchState } from '../kube/watch.ts'
import type { Cache } from './cache.ts'
import type { Logger } from './log.ts'

export interface OptionalKindDeps<T extends KubeObject> {
  readonly client: Client
  readonly log: Logger
  readonly watch: Omit<WatchOptions<T>, 'transform'>
  /** How often a missing kind is asked for. */
  readonly pollMs?: number
}

const POLL_MS = 30_000
/** A server that cannot answer is asked again sooner: nobody can start before it has. */
const RETRY_MS = 1_000

export async function followWhileServed<T extends KubeObject>(
  cache: Cache<T>,
  deps: OptionalKindDeps<T>,
): Promise<void> {
  const { log, pollMs = POLL_MS } = deps
  const { signal } = deps.watch
  const { kind } = cache.resource
  while (!signal.aborted) {
    const served = await isServed(cache.resource, deps)
    if (served === true) {
      log.info({ kind }, 'the cluster serves an optional kind')
      await followUntilGone(cache, deps)
    } else if (served === false) cache.empty()
    await sleep(served === undefined ? RETRY_MS : pollMs, signal).catch(() => undefined)
  }
}

/** Undefined if the server could not say. */
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
    if (!signal.aborted) log.warn({ err: error, kind: resource.kind }, 'the server cannot say whether it has a kind')
    return undefined
  }
}

/** Ends when the server has denied knowing the kind; then the cache is empty. */
async function followUntilGone<T extends KubeObject>(cache: Cache<T>, deps: OptionalKindDeps<T>): Promise<void> {
  const { client, log } = deps
  const { signal, onState, ...selection } = deps.watch
  const gone = new AbortController()
  const note = (state: WatchState): void => {
    if (state.phase === 'waiting' && isNotFound(state.error)) gone.abort()
    else onState?.(state)
  }
  const until = AbortSignal.any([signal, gone.signal])
  await cache.follow((transform) =>
    watch(client, cache.resource, { ...selection, signal: until, transform, onState: note }),
  )
  if (signal.aborted) return
  log.info({ kind: cache.resource.kind }, 'the cluster serves an optional kind no longer')
  cache.empty()
}
