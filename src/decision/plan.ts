/**
 * A plan: everything that a controller decides to write for one object. Planners return plans and write nothing; `commit` of
 * the runtime executes them and decides nothing. This type is all that the two share.
 *
 * `commit` deletes, then writes in the order of the plan, then writes the status, publishes the events, and deletes last what
 * may go only then. It can repeat a plan safely after a crash between any two writes.
 *
 * A planner decides one step ahead: a decision that must not be lost, such as a restart, is first recorded in the status. The
 * next plan finds it there and acts on it.
 */
import type { KubeObject } from '../kube/object.ts'

/** How an object is written. */
export type WriteMode =
  /** A child in its desired state, with the owner as its controller. An object that is already in that state costs no write. */
  | 'apply'
  /** Create the child if absent, and never change it: an object with a life of its own, such as one run of a schedule. */
  | 'create'
  /** Create if absent, without an owner, and never change: data that outlives its owner. */
  | 'createUnowned'
  /** Create if absent, without an owner, and never change: a record of its owner. An object of that name that has not all its labels is a conflict. */
  | 'createRecord'
  /** Create the child if absent, and never read or change it: kinds that the operator may create but not read, such as Secrets. */
  | 'createUnread'

/** Annotations for an existing object that a child's controller created, such as a pod of a Deployment. */
export interface Annotated {
  /** As observed. Only the object with this uid is changed. */
  readonly object: KubeObject
  /** Set in addition to the existing annotations. */
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * Fields of an existing object that belongs to others, such as one entry of a list. They are applied by a field manager of
 * their own and without force: an apply that would change a field of another manager is a `FieldConflict`.
 */
export interface Contribution {
  /** The fields, with the name and the observed uid of the object. */
  readonly object: KubeObject
  readonly fieldManager: string
}

/** The status of a child that other controllers write too. It is written only if the child has not changed since it was observed. */
export interface Report {
  /** As observed. */
  readonly object: KubeObject
  /** The whole status. Conditions without a time get one. */
  readonly status: object
}

export type PlannedWrite =
  | { readonly how: WriteMode; readonly object: KubeObject }
  | ({ readonly how: 'annotate' } & Annotated)
  | ({ readonly how: 'contribute' } & Contribution)
  | ({ readonly how: 'report' } & Report)

/** How an observed object is deleted. */
export type DeleteMode =
  /** A child, before anything is written. Terminating objects are skipped. */
  | 'graceful'
  /** As `graceful`, and the child is there until everything that it controls is gone. */
  | 'foreground'
  /** A child that cannot end by itself: without a grace period, also if it is terminating. */
  | 'force'
  /** Data of `createUnowned` that goes with its owner: last, and only if a live read shows the owner terminating. */
  | 'unowned'
  /** A record without an owner, of an earlier object with the name of this one, that a new record replaces: before anything is written. */
  | 'record'
  /** A pod of a child, by the Eviction API, which honours PodDisruptionBudgets: last, and only once the status that records it is stored. */
  | 'evict'
  /** The owner itself: last, and only if it has not changed since the plan was made. */
  | 'owner'

export interface Deletion {
  readonly how: DeleteMode
  readonly object: KubeObject
}

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** Why, in one CamelCase word that machines can match. */
  readonly reason: string
  /** What was done or attempted, in one CamelCase word. Default: the reason. */
  readonly action?: string
  /** For people: what happened, why, and what to do next. */
  readonly note: string
}

export interface Plan<Status = unknown> {
  /** Consecutive writes of one mode and one kind run in parallel. */
  readonly writes: readonly PlannedWrite[]
  readonly deletions: readonly Deletion[]
  /** The whole status, without the times of its conditions. Undefined: the status stays as it is. */
  readonly status?: Status
  readonly events: readonly EventNote[]
  readonly requeueAfterMs?: number
}

export function toWrite(how: WriteMode, objects: readonly KubeObject[]): PlannedWrite[] {
  return objects.map((object) => ({ how, object }))
}

export function toDelete(how: DeleteMode, objects: readonly KubeObject[]): Deletion[] {
  return objects.map((object) => ({ how, object }))
}
