import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../kube/object.ts'
import type { ObjectChange } from '../runtime/index.ts'

/** Whether a change is visible in the cached object. If much of it is trimmed, most changes are not. */
export function isVisibleChange<T extends KubeObject>(change: ObjectChange<T>): boolean {
  return change.type !== 'update' || !isDeepStrictEqual(withoutVersion(change.object), withoutVersion(change.previous))
}

function withoutVersion(object: KubeObject): unknown {
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } }
}
