/**
 * A planned child cannot be written because an object of its name exists that the owner does not control. The error ends
 * the pass, because later objects of the plan may depend on the child. The controller watches the objects and retries when
 * one changes.
 */
import { type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import { RuntimeError } from './errors.ts'

export interface ForeignObject {
  readonly resource: Resource
  /** As last read. */
  readonly object: KubeObject
}

export class NameConflict extends RuntimeError {
  readonly objects: readonly ForeignObject[]

  constructor(owner: KubeObject, objects: readonly ForeignObject[]) {
    const names = objects.map(({ object }) => nameWithKind(object)).toSorted()
    const [are, them] = names.length === 1 ? ['exists and is', 'it'] : ['exist and are', 'them']
    super(
      'NameConflict',
      `${names.join(', ')} already ${are} not controlled by this ${owner.kind}: delete or rename ${them}, or rename the ${owner.kind}`,
    )
    this.objects = objects
  }
}
