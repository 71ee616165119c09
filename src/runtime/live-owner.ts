/**
 * Live reads of an owner, before writes that a stale cache must not cause. Kinds are watched independently: a cache may show
 * the change of a child before the change of its owner that caused it.
 */
import { isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import type { WriteCall } from './applier.ts'
import { RuntimeError } from './errors.ts'

export interface ObservedOwner {
  readonly owner: KubeObject
  readonly resource: Resource
  readonly call: WriteCall
}

/** Reads the owner from the server. Undefined if it is gone or replaced. */
export async function readOwner({ owner, resource, call }: ObservedOwner): Promise<KubeObject | undefined> {
  try {
    const live = await call.client.get(resource, keyOf(owner), { signal: call.signal })
    return live.metadata.uid === owner.metadata.uid ? live : undefined
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

/** Builds a check that throws unless the server has the owner as it was observed. It reads the owner at most once. */
export function currencyCheck(observed: ObservedOwner): () => Promise<void> {
  let checked: Promise<void> | undefined
  return () => (checked ??= demandCurrent(observed))
}

async function demandCurrent(observed: ObservedOwner): Promise<void> {
  const live = await readOwner(observed)
  const { owner } = observed
  if (live?.metadata.resourceVersion === owner.metadata.resourceVersion) return
  throw new RuntimeError('Transient', `${nameWithKind(owner)} has changed since it was observed: planning again`)
}
