import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../kube/object.ts'
import type { Change } from '../runtime/index.ts'

/** Whether a change shows in what is kept of the object: where much is trimmed away, most changes do not. */
export function isNews<T extends KubeObject>(change: Change<T>): boolean {
  return change.type !== 'update' || !isDeepStrictEqual(timeless(change.object), timeless(change.previous))
}

function timeless(object: KubeObject): unknown {
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } }
}
