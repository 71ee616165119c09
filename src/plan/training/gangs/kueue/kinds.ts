/** The kinds of Kueue that the operator reads or writes, with the fields that it uses. */
import type { KubeObject, Resource } from '../../../../kube/object.ts'
import type { Pod } from '../../../../kube/resources.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  readonly lastTransitionTime?: string
}

type PodSpec = NonNullable<Pod['spec']>
type Tolerations = NonNullable<PodSpec['tolerations']>
type Texts = Readonly<Record<string, string>>

export interface WorkloadPodSet {
  readonly name: string
  readonly count: number
  readonly minCount?: number
  readonly template: {
    readonly metadata?: { readonly labels?: Texts; readonly annotations?: Texts }
    readonly spec: PodSpec
  }
  readonly topologyRequest?: object
}

export interface PodSetAssignment {
  readonly name: string
  readonly count?: number
  readonly flavors?: Texts
  readonly topologyAssignment?: object
}

export interface PodSetUpdate {
  readonly name: string
  readonly labels?: Texts
  readonly annotations?: Texts
  readonly nodeSelector?: Texts
  readonly tolerations?: Tolerations
}

export interface WorkloadStatus {
  readonly conditions?: readonly Condition[]
  readonly admission?: { readonly clusterQueue: string; readonly podSetAssignments: readonly PodSetAssignment[] }
  readonly admissionChecks?: readonly { readonly podSetUpdates?: readonly PodSetUpdate[] }[]
  readonly reclaimablePods?: readonly { readonly name: string; readonly count: number }[]
}

export interface Workload extends KubeObject {
  readonly spec: {
    readonly podSets: readonly WorkloadPodSet[]
    readonly queueName?: string
    readonly active?: boolean
    readonly priorityClassRef?: { readonly group: string; readonly kind: string; readonly name: string }
    readonly priority?: number
  }
  readonly status?: WorkloadStatus
}

interface Flavor extends KubeObject {
  readonly spec?: { readonly nodeLabels?: Texts; readonly tolerations?: Tolerations }
}

interface Priority extends KubeObject {
  readonly value?: number
}

const GROUP = 'kueue.x-k8s.io'

/** Served by Kueue 0.15 and later, and preferred by 0.19. */
export const Workload: Resource<Workload> = {
  group: GROUP,
  version: 'v1beta2',
  kind: 'Workload',
  plural: 'workloads',
  namespaced: true,
}

export const ResourceFlavor: Resource<Flavor> = {
  group: GROUP,
  version: 'v1beta2',
  kind: 'ResourceFlavor',
  plural: 'resourceflavors',
  namespaced: false,
}

export const WorkloadPriorityClass: Resource<Priority> = {
  group: GROUP,
  version: 'v1beta2',
  kind: 'WorkloadPriorityClass',
  plural: 'workloadpriorityclasses',
  namespaced: false,
}

export const PriorityClass: Resource<Priority> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
}
