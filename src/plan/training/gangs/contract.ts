/**
 * A gang scheduler places all pods of an attempt together, or none of them. One contract, one file per scheduler: the kinds
 * that it needs, the group that it reads, and what makes a pod a member of the group. Caches and RBAC rules follow from the
 * declared kinds.
 *
 * Contract (checked for every scheduler by contract.test.ts)
 * - It renders only kinds that it declares, with the labels of the gang.
 * - Rendering is deterministic. The same gang has the same group in every attempt, so a restart keeps it.
 * - The group needs at most `minMembers` pods, and every pod names the group.
 * - A group whose content cannot change has another name when its content does.
 * - With `quota`, no pod exists before the group is granted quota, and none when it is given back: see quota.ts.
 */
import type { GangSchedulerName } from '../../../api/training-scheduling.ts'
import type { KubeObject, Resource } from '../../../kube/object.ts'
import type { Pod } from '../../../kube/resources.ts'
import type { Found, Quota } from './quota.ts'

export type { GangSchedulerName }

type PodSpec = NonNullable<Pod['spec']>

/** The pods of one role. */
export interface PodSet {
  readonly role: string
  readonly count: number
  /** With how many of them the job can train. Absent: it needs all. */
  readonly minCount?: number
  /** As rendered for this role, without what the scheduler adds. */
  readonly template: {
    readonly metadata: {
      readonly labels: Readonly<Record<string, string>>
      readonly annotations: Readonly<Record<string, string>>
    }
    readonly spec: PodSpec
  }
}

/** The pods of an attempt, for the scheduler. */
export interface Gang {
  readonly jobName: string
  /** Of the job. */
  readonly jobLabels: Readonly<Record<string, string>>
  /** On every rendered object. */
  readonly labels: Readonly<Record<string, string>>
  /** Workers first. */
  readonly podSets: readonly PodSet[]
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
  readonly spec?: Readonly<Partial<PodSpec & { readonly schedulingGroup: object }>>
  /** Added to what the pod has of it. */
  readonly placement?: Placement
}

export interface Placement {
  readonly nodeSelector: Readonly<Record<string, string>>
  readonly tolerations: readonly object[]
  readonly schedulingGates: readonly { readonly name: string }[]
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
  /** It grants quota before pods may exist. Absent: pods are created at once. */
  readonly quota?: Quota
  /** Undefined: the pods need no group. `found`: what `quota` asked for. */
  groupOf(gang: Gang, found?: Found): KubeObject | undefined
  membershipIn(gang: Pick<Gang, 'jobName' | 'minMembers'>): Membership
}
