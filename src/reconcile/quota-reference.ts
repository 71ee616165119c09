/** Cluster-scoped objects that a decision about quota depends on, read from the API server by their names. */
import { isNotFound } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Reference } from '../plan/training/index.ts'
import type { ReconcileContext } from '../runtime/index.ts'

/** Undefined if the object does not exist. */
export type ReadReference = (reference: Reference) => Promise<KubeObject | undefined>

export function readReference({ client, signal }: Pick<ReconcileContext, 'client' | 'signal'>): ReadReference {
  return async ({ resource, name }) => {
    try {
      return await client.get(resource, { name }, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
}
