/**
 * Removal of a finalizer, after everything that it guards has been cleaned up.
 *
 * Guarantees
 * - The request carries the uid and resourceVersion of the object. It never changes another object of the same name and
 *   never reverts a change of another client to the list. If the cache is stale, it fails with a conflict.
 * - The finalizers of other controllers stay.
 *
 * Assumptions
 * - `object` comes from the cache or the server, with uid and resourceVersion.
 * - The controller runs for as long as objects with its finalizer exist: uninstall the controller last.
 */
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject, type Resource } from '../kube/object.ts'

export interface FinalizerOptions<T extends KubeObject> {
  readonly client: Client
  readonly resource: Resource<T>
  /** Qualified, such as `example.com/cleanup`. */
  readonly name: string
  readonly signal?: AbortSignal
}

export function hasFinalizer(object: KubeObject, name: string): boolean {
  return object.metadata.finalizers?.includes(name) ?? false
}

/** Succeeds also if the object is already gone. */
export async function removeFinalizer<T extends KubeObject>(
  object: T,
  { client, resource, name, signal }: FinalizerOptions<T>,
): Promise<void> {
  if (!hasFinalizer(object, name)) return
  const finalizers = object.metadata.finalizers?.filter((finalizer) => finalizer !== name) ?? []
  const { uid, resourceVersion } = object.metadata
  const patch = { metadata: { uid, resourceVersion, finalizers } }
  try {
    await client.patch(resource, keyOf(object), patch, signal ? { signal } : {})
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
