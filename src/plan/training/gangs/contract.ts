/**
 * A gang scheduler places all pods of an attempt together, or none of them. One contract, one file per scheduler: the kinds
 * that it needs, the PodGroup that it reads, and what makes a pod a member of the group. Caches and RBAC rules follow from the
 * declared kinds.
 *
 * Contract (checked for every scheduler by contract.test.ts)
 * - It renders only kinds that it declares, with the labels of the gang.
 * - Rendering is deterministic. The same gang has the same group in every attempt, so a restart keeps it.
 * - The group needs at most `minMembers` pods, and every pod names the group.
 * - A group whose content cannot change has another name when its content does.
 */
import type { GangSchedulerName } from '../../../api/training-scheduling.ts'
import type { KubeObject, Resource } from '../../../kube/object.ts'
import type { Pod } from '../../../kube/resources.ts'

export type { GangSchedulerName }

/** The pods of an attempt, for the scheduler. */
export interface Gang {
  readonly jobName: string
  /** On every rendered object. */
  readonly labels: Readonly<Record<string, string>>
  /** Number of pods without which the job cannot train. */
  readonly minMembers: number
  /** What these pods request together, by resource. */
  readonly minResources: Readonly<Record<string, string>>
  readonly queueName?: string
  readonly priorityClassName?: string
  /** How long pods of the gang may wait for the others. */
  readonly timeoutSeconds: number
}

/** What a pod has in addition, to be a member of the group. */
export interface Membership {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Readonly<Partial<NonNullable<Pod['spec']> & { readonly schedulingGroup: object }>>
}

/** What `auto` decides by. */
export interface GangRequest {
  /** Number of pods of the attempt. */
  readonly pods: number
  readonly schedulerName?: string
  readonly queueName?: string
}

/** A kind of another product. The cluster may not serve it. */
export interface GangKind {
  readonly resource: Resource
  /** Paths that others may set on our objects. Anything else that others add is removed. */
  readonly sharedFields?: readonly string[]
}

export interface GangScheduler {
  readonly name: GangSchedulerName
  /** It is available while the cluster serves all of these. They are watched, and RBAC permits writing them. */
  readonly kinds: readonly GangKind[]
  /** Why RBAC permits writing `kinds`. */
  readonly permission?: string
  /** Name of the scheduler, unless the administrator or the job sets another. Absent: the scheduler of the cluster. */
  readonly schedulerName?: string
  /** Whether its groups have a queue. */
  readonly hasQueues: boolean
  /** Whether half of a gang never holds nodes. Otherwise the operator gives the nodes back after a time. */
  readonly placesTogether: boolean
  /** Undefined: the pods need no group. */
  groupOf(gang: Gang): KubeObject | undefined
  membershipIn(gang: Pick<Gang, 'jobName' | 'minMembers'>): Membership
}
