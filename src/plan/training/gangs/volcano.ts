/** Volcano: a PodGroup in a queue. Its scheduler creates no pod group of its own for pods that name one. */
import { apiVersionOf } from '../../../kube/object.ts'
import type { Gang, GangScheduler } from './contract.ts'
import { type PodGroup, podGroups } from './kinds.ts'

interface Spec {
  readonly minMember: number
  readonly minResources: Readonly<Record<string, string>>
  readonly queue: string
  readonly priorityClassName?: string
}

export const VolcanoPodGroup = podGroups<Spec>('scheduling.volcano.sh', 'v1beta1')

/** On pods: the name of their PodGroup. */
const GROUP_ANNOTATION = 'scheduling.k8s.io/group-name'
const DEFAULT_QUEUE = 'default'

export const volcano = {
  name: 'volcano',
  // The CRD has no status subresource, and the scheduler writes whole objects.
  kinds: [{ resource: VolcanoPodGroup, sharedFields: ['spec'] }],
  permission: 'PodGroups of training jobs, on clusters with Volcano.',
  schedulerName: 'volcano',
  hasQueues: true,
  placesTogether: true,
  groupOf,
  membershipIn: ({ jobName }) => ({ annotations: { [GROUP_ANNOTATION]: jobName } }),
} satisfies GangScheduler

function groupOf({ jobName, labels, minMembers, minResources, queueName, priorityClassName }: Gang): PodGroup<Spec> {
  return {
    apiVersion: apiVersionOf(VolcanoPodGroup),
    kind: VolcanoPodGroup.kind,
    metadata: { name: jobName, labels },
    spec: {
      minMember: minMembers,
      minResources,
      queue: queueName ?? DEFAULT_QUEUE,
      ...(priorityClassName !== undefined && { priorityClassName }),
    },
  }
}
