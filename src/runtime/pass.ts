import type { KubeObject, Resource } from '../kube/object.ts'
import type { Applier, WriteCall } from './applier.ts'
import type { ObservedOwner } from './live-owner.ts'
import type { RuntimeMetrics } from './metrics.ts'

/** The execution of one plan for one owner. */
export interface Pass {
  readonly owner: KubeObject
  /** The owner as the plan was made from, for a live read. */
  readonly observedOwner: ObservedOwner
  readonly call: WriteCall
  readonly applier: Applier
  readonly metrics: RuntimeMetrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Kinds that are created but never read. */
  readonly unread: readonly Resource[]
  /** Whether the owner controls the object, directly or through a child. */
  readonly isOurs: (object: KubeObject) => boolean
  /** Throws if the owner has changed since it was planned from. */
  readonly demandCurrent: () => Promise<void>
}
