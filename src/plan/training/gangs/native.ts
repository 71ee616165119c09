/**
 * The PodGroups of Kubernetes 1.36, behind the feature gates GenericWorkload and GangScheduling. The spec of a PodGroup is
 * immutable, so its name has the number of pods that it needs.
 */
import { apiVersionOf } from '../../../kube/object.ts'
import type { Gang, GangScheduler } from './contract.ts'
import { type PodGroup, podGroups } from './kinds.ts'

interface Spec {
  readonly schedulingPolicy: { readonly gang: { readonly minCount: number } }
}

export const NativePodGroup = podGroups<Spec>('scheduling.k8s.io', 'v1alpha2')

export const native = {
  name: 'native',
  kinds: [{ resource: NativePodGroup }],
  permission: 'PodGroups of training jobs, on clusters with the feature gate GenericWorkload.',
  hasQueues: false,
  placesTogether: true,
  groupOf,
  membershipIn: (gang) => ({ spec: { schedulingGroup: { podGroupName: nameOf(gang) } } }),
} satisfies GangScheduler

const nameOf = ({ jobName, minMembers }: Pick<Gang, 'jobName' | 'minMembers'>): string => `${jobName}-${minMembers}`

function groupOf(gang: Gang): PodGroup<Spec> {
  return {
    apiVersion: apiVersionOf(NativePodGroup),
    kind: NativePodGroup.kind,
    metadata: { name: nameOf(gang), labels: gang.labels },
    spec: { schedulingPolicy: { gang: { minCount: gang.minMembers } } },
  }
}
