/** Oracles: rules that every change in the cluster must satisfy. */
import type { KubeObject, Resource } from '../../../src/kube/object.ts'

export interface ObservedChange {
  readonly type: 'created' | 'changed' | 'deleted'
  readonly object: KubeObject
  readonly previous?: KubeObject
}

/** The objects of a plan's namespace at one moment. */
export interface ClusterView {
  /** All existing objects of a kind. */
  list<T extends KubeObject>(resource: Resource<T>): readonly T[]
  /** All existing objects, except for those that the cluster creates for itself. */
  all(): readonly KubeObject[]
}

/** A cluster view that also keeps the history. */
export interface ClusterHistory extends ClusterView {
  /** All changes so far, in the order in which they were observed. */
  readonly changes: readonly ObservedChange[]
}

/** A rule that holds at every moment, and possibly a stricter one at the end. Keeps state, so each run has its own. */
export interface Oracle {
  readonly name: string
  /** The violation caused by this change, if any. */
  readonly onChange?: (change: ObservedChange, cluster: ClusterView) => string | undefined
  /** The violations in the converged cluster. */
  readonly atRest?: (cluster: ClusterView) => readonly string[]
}
