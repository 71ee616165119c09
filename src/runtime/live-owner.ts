/**
 * An owner as the server has it now, for what must not be done by a cache that is behind. Kinds are watched apart from each
 * other: what a child has become may be known before the change of the owner that it goes back to.
 */
import { isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import type { WriteCall } from './applier.ts'
import { RuntimeError } from './errors.ts'

export interface OwnerAtHand {
  readonly owner: KubeObject
  readonly resource: Resource
  readonly call: WriteCall
}

/** Nothing if that very owner is gone. */
export async function liveOwner({ owner, resource, call }: OwnerAtHand): Promise<KubeObject | undefined> {
  try {
    const live = await call.client.get(resource, keyOf(owner), { signal: call.signal })
    return live.metadata.uid === owner.metadata.uid ? live : undefined
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

/** Throws unless the server has the owner as it is at hand. */
export async function demandCurrent(at: OwnerAtHand): Promise<void> {
  const live = await liveOwner(at)
  if (live?.metadata.resourceVersion === at.owner.metadata.resourceVersion) return
  throw new RuntimeError('Transient', `${nameWithKind(at.owner)} has changed since it was seen: it is planned anew`)
}
