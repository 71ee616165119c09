/**
 * Quota: a group waits in a queue until its gang may exist. The system behind the queue grants the quota, can take it back,
 * and learns from the group when the pods are gone.
 */
import type { Admission } from '../../../api/training-quota.ts'
import type { KubeObject, Resource } from '../../../kube/object.ts'
import type { Gang } from './contract.ts'

/** A cluster-scoped object that is read by its name. */
export interface Reference {
  readonly resource: Resource
  readonly name: string
}

export const referenceKey = ({ resource, name }: Reference): string => `${resource.kind}/${name}`

/** The objects that exist of those asked for, by `referenceKey`. */
export type Found = ReadonlyMap<string, KubeObject>

export interface Cause {
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
}

export type Verdict =
  | ({ readonly state: 'waiting' } & Cause)
  | { readonly state: 'granted'; readonly admission: Omit<Admission, 'requestedWorkers'> }
  /** The quota is taken back: it counts as used until `released` is stored. */
  | ({ readonly state: 'withdrawn' } & Cause)
  /** The group never gets quota again. */
  | ({ readonly state: 'over' } & Cause)

/** What the system behind the queue learns of a gang that has quota. */
export interface Progress {
  /** All pods run or have succeeded. */
  readonly isReady: boolean
  /** Number of pods that have succeeded and hold nothing any more, by role. */
  readonly succeeded: Readonly<Record<string, number>>
  /** Once the job is over and no pod is left. */
  readonly end?: { readonly isSuccess: boolean; readonly message: string }
}

export interface Quota {
  /** Label of a job that names its queue, and takes precedence over `scheduling.queueName`. */
  readonly queueLabel: string
  /** Kinds of `Reference`s. RBAC permits reading them. */
  readonly reads: readonly Resource[]
  /** Why RBAC permits it. */
  readonly readPermission: string
  /** What the group of this gang depends on. */
  groupReferences(gang: Gang): readonly Reference[]
  /** What the grant of this group depends on. */
  grantReferences(group: KubeObject): readonly Reference[]
  /** Whether the group asks for this gang, and not for less: others may edit it while it waits, and pods may have been given back. */
  isFor(group: KubeObject, gang: Gang): boolean
  verdictOn(group: KubeObject, found: Found): Verdict
  /** The status of a group whose quota is taken back and whose pods are gone. */
  released(group: KubeObject): object
  /** The status of the group, with the progress. */
  reported(group: KubeObject, progress: Progress): object
}
