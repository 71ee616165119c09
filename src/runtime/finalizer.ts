/**
 * Finalizers: do something before an object may go.
 *
 * Flow
 *   not being deleted, ours absent    → add ours, and only then create anything that needs cleaning up
 *   not being deleted, ours present   → active
 *   being deleted, ours present       → clean up, then remove ours
 *   being deleted, ours absent        → gone, nothing left to do
 *
 * Guarantees
 * - `active` is answered only when the server has stored the finalizer: nothing is created that could be left behind.
 * - The finalizer is removed only after `cleanUp` has succeeded. When it throws, the error goes on to the controller,
 *   and the next reconcile cleans up again: at least once, so `cleanUp` must be idempotent.
 * - Adding and removing carry uid and resourceVersion: they never touch a namesake, never undo somebody else's change
 *   of the list, and fail with a conflict when the cache is behind.
 *
 * Assumptions
 * - `object` comes from the cache or the server, with uid and resourceVersion.
 * - Somebody runs this code for as long as objects with the finalizer exist: uninstall the controller last.
 */
import type { CallOptions, Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject, type Resource } from '../kube/object.ts'

export interface FinalizerOptions<T extends KubeObject> {
  readonly client: Client
  readonly resource: Resource<T>
  /** Qualified, such as `example.com/cleanup`. */
  readonly name: string
  readonly signal?: AbortSignal
}

export type FinalizerState = 'active' | 'finalized' | 'gone'

/** Takes the object one step along the flow above. */
export async function finalize<T extends KubeObject>(
  object: T,
  options: FinalizerOptions<T>,
  cleanUp: (object: T) => Promise<void>,
): Promise<FinalizerState> {
  if (object.metadata.deletionTimestamp === undefined) {
    await ensureFinalizer(object, options)
    return 'active'
  }
  if (!hasFinalizer(object, options.name)) return 'gone'
  await cleanUp(object)
  await removeFinalizer(object, options)
  return 'finalized'
}

export function hasFinalizer(object: KubeObject, name: string): boolean {
  return object.metadata.finalizers?.includes(name) ?? false
}

/** The object with the finalizer: as it was if it had it, else as the server returned it. */
export async function ensureFinalizer<T extends KubeObject>(object: T, options: FinalizerOptions<T>): Promise<T> {
  if (hasFinalizer(object, options.name)) return object
  return patchFinalizers(object, [...(object.metadata.finalizers ?? []), options.name], options)
}

/** Removes the finalizer. An object that is already gone is as good. */
export async function removeFinalizer<T extends KubeObject>(object: T, options: FinalizerOptions<T>): Promise<void> {
  if (!hasFinalizer(object, options.name)) return
  const others = object.metadata.finalizers?.filter((finalizer) => finalizer !== options.name) ?? []
  try {
    await patchFinalizers(object, others, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function patchFinalizers<T extends KubeObject>(
  object: T,
  finalizers: readonly string[],
  { client, resource, signal }: FinalizerOptions<T>,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata
  const call: CallOptions = signal ? { signal } : {}
  return client.patch(resource, keyOf(object), { metadata: { uid, resourceVersion, finalizers } }, call)
}
