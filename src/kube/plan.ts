/**
 * What a controller decides to write, as one value. Decisions are made where nothing can be written, and carried out
 * where nothing is decided; this type is all that the two sides share.
 *
 * A planner answers with everything that should be written, and nothing that was read on the way. `commit` of the runtime
 * carries it out in the order prune → force → keep → create → apply → annotate → status → events → discard → expired, and
 * repeats it safely after a crash between any two of these steps.
 *
 * A planner decides at most one step ahead: what must not be forgotten (a restart, a retry that is used up) is written
 * to the status first, and acted on by the next plan, which sees it there.
 */
import type { KubeObject } from './object.ts'

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** Why, in one CamelCase word that machines can match. */
  readonly reason: string
  /** What was done or attempted, in one CamelCase word; the reason if absent. */
  readonly action?: string
  /** For people: what happened, why, and what to do next. */
  readonly note: string
}

export interface Annotated {
  /** As observed: only the very object of this uid is changed, and only while it is there. */
  readonly object: KubeObject
  /** Set beside those that it has. */
  readonly annotations: Readonly<Record<string, string>>
}

export interface Plan<Status = unknown> {
  /**
   * Children as they should be; the owner reference is added when they are written. Those that are there and already so
   * cost nothing. Objects of one kind in a row go in parallel.
   */
  readonly apply: readonly KubeObject[]
  /** Children, as observed, that should be gone. */
  readonly prune: readonly KubeObject[]
  /** Children, as observed, that will never end by themselves: deleted without grace, even while they are going. */
  readonly force?: readonly KubeObject[]
  /** Created when absent, without an owner, and never changed afterwards: data that outlives its owner. */
  readonly keep?: readonly KubeObject[]
  /** Created when absent and never read, compared or changed: kinds that we may write but not see, such as a Secret. */
  readonly create?: readonly KubeObject[]
  /** Annotations for objects that are there already and that somebody else makes, such as the pods of a Deployment. */
  readonly annotate?: readonly Annotated[]
  /** The whole status, without the times of its conditions. Absent: the status is left alone. */
  readonly status?: Status
  readonly events: readonly EventNote[]
  readonly requeueAfterMs?: number
  /** What `keep` once created for this very owner and should go with it: only after a live read shows the owner going. */
  readonly discard?: readonly KubeObject[]
  /** The owner has had its time: it is deleted, last, if it still is what the plan was made from. */
  readonly expired?: boolean
}
