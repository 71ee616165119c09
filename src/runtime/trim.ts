/** How a cache reduces objects before it keeps them. */
import type { KubeObject } from '../kube/object.ts'
import { type Exclusive, withForeignFields } from './foreign-fields.ts'
import type { Logger } from './log.ts'

export interface TrimOptions<T extends KubeObject> {
  readonly log: Logger
  /** Drops unused fields before the object is stored. Must not drop name, namespace, uid, resourceVersion or owners. */
  readonly trim?: (object: T) => T
  /** Only this process writes these objects: what others add to them is drift. */
  readonly exclusive?: Exclusive
}

/** Builds the trim of a cache. A `trim` that throws leaves the object whole: one odd object must not stop the cache. */
export function createTrim<T extends KubeObject>({ trim, log, exclusive }: TrimOptions<T>): (object: T) => T {
  const reduce = (object: T): T => (exclusive ? withForeignFields(object, exclusive) : withoutManagedFields(object))
  if (!trim) return reduce
  return (object) => {
    const reduced = reduce(object)
    try {
      return trim(reduced)
    } catch (error) {
      log.error({ err: error, kind: object.kind, name: object.metadata.name }, 'trimming an object failed')
      return reduced
    }
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { managedFields: unknown }
  return { ...object, metadata }
}
