/** The plugin coscheduling of scheduler-plugins: a PodGroup, and a label on its pods. */
import { apiVersionOf } from '../../../kube/object.ts'
import type { Gang, GangScheduler } from './contract.ts'
import { type PodGroup, podGroups } from './kinds.ts'

interface Spec {
  readonly minMember: number
  readonly minResources: Readonly<Record<string, string>>
  readonly scheduleTimeoutSeconds?: number
}

export const CoschedulingPodGroup = podGroups<Spec>('scheduling.x-k8s.io', 'v1alpha1')

/** On pods: the name of their PodGroup. */
const GROUP_LABEL = 'scheduling.x-k8s.io/pod-group'

export const coscheduling = {
  name: 'coscheduling',
  kinds: [{ resource: CoschedulingPodGroup }],
  permission: 'PodGroups of training jobs, on clusters with scheduler-plugins.',
  schedulerName: 'scheduler-plugins-scheduler',
  hasQueues: false,
  placesTogether: true,
  groupOf,
  membershipIn: ({ jobName }) => ({ labels: { [GROUP_LABEL]: jobName } }),
} satisfies GangScheduler

function groupOf({ jobName, labels, minMembers, minResources, timeoutSeconds }: Gang): PodGroup<Spec> {
  return {
    apiVersion: apiVersionOf(CoschedulingPodGroup),
    kind: CoschedulingPodGroup.kind,
    metadata: { name: jobName, labels },
    spec: {
      minMember: minMembers,
      minResources,
      ...(timeoutSeconds > 0 && { scheduleTimeoutSeconds: timeoutSeconds }),
    },
  }
}
