/**
 * Kueue: a Workload asks for quota, and no pod is created before it is admitted. Kueue does not place pods; the scheduler of
 * the cluster does, on nodes of the flavors that Kueue has chosen.
 */
import type { KubeObject } from '../../../../kube/object.ts'
import type { GangScheduler } from '../contract.ts'
import { flavorsOf, verdictOn } from './admission.ts'
import { PriorityClass, ResourceFlavor, Workload, WorkloadPriorityClass } from './kinds.ts'
import { released, reported } from './report.ts'
import { demandOf, priorityReference, workloadOf } from './workload.ts'

export const kueue = {
  name: 'kueue',
  kinds: [{ resource: Workload, sharedFields: ['spec'] }],
  permission: 'Workloads of training jobs with a queue, on clusters with Kueue.',
  hasQueues: true,
  placesTogether: false,
  quota: {
    queueLabel: 'kueue.x-k8s.io/queue-name',
    reads: [ResourceFlavor, WorkloadPriorityClass, PriorityClass],
    readPermission: 'Nodes of the flavors that Kueue grants, and priorities of jobs with a queue.',
    groupReferences: (gang) => [priorityReference(gang)].filter((one) => one !== undefined),
    grantReferences: (group) => flavorsOf(asWorkload(group)),
    isFor: (group, gang) => {
      const { spec, status } = asWorkload(group)
      const wanted = workloadOf(gang).spec
      const demand = (one: Workload['spec']): string => JSON.stringify([one.queueName, ...one.podSets.map(demandOf)])
      // Pods that were given back do not come back while the Workload has quota.
      return demand(spec) === demand(wanted) && (status?.reclaimablePods ?? []).length === 0
    },
    verdictOn: (group, found) => verdictOn(asWorkload(group), found),
    released: (group) => released(asWorkload(group)),
    reported: (group, progress) => reported(asWorkload(group), progress),
  },
  groupOf: workloadOf,
  // The admission has the annotation that names the Workload.
  membershipIn: () => ({}),
} satisfies GangScheduler

const asWorkload = (group: KubeObject): Workload => group as Workload
