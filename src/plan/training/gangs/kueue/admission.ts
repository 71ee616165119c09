/** What Kueue says about a Workload: it waits, it is admitted, it is evicted, or it is over. */
import type { PodSetAdmission } from '../../../../api/training-quota.ts'
import { type Found, type Reference, referenceKey, type Verdict } from '../quota.ts'
import { type Condition, type PodSetAssignment, type PodSetUpdate, ResourceFlavor, type Workload } from './kinds.ts'

const PODSET_LABEL = 'kueue.x-k8s.io/podset'
/** On pods: the name of their Workload. */
export const WORKLOAD_ANNOTATION = 'kueue.x-k8s.io/workload'
const TOPOLOGY_GATE = 'kueue.x-k8s.io/topology'
const UNCONSTRAINED = 'kueue.x-k8s.io/podset-unconstrained-topology'

export function conditionOf({ status }: Workload, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

export const holds = (workload: Workload, type: string): boolean => conditionOf(workload, type)?.status === 'True'

export const flavorsOf = ({ status }: Workload): readonly Reference[] => {
  const names = status?.admission?.podSetAssignments.flatMap(({ flavors = {} }) => Object.values(flavors)) ?? []
  return [...new Set(names)].toSorted().map((name) => ({ resource: ResourceFlavor, name }))
}

export function verdictOn(workload: Workload, found: Found): Verdict {
  const { name, deletionTimestamp } = workload.metadata
  if (deletionTimestamp !== undefined)
    return { state: 'over', reason: 'WorkloadDeleted', message: `Workload ${name} is deleted` }
  const finished = conditionOf(workload, 'Finished')
  if (finished?.status === 'True')
    return { state: 'over', reason: 'WorkloadFinished', message: `Workload ${name} is finished: ${finished.message}` }
  const evicted = conditionOf(workload, 'Evicted')
  const hasQuota = holds(workload, 'QuotaReserved') || workload.status?.admission !== undefined
  if (evicted?.status === 'True' && hasQuota) return { ...causeOf(evicted), state: 'withdrawn' }
  return holds(workload, 'Admitted') ? granted(workload, found) : { ...waitingFor(workload), state: 'waiting' }
}

const causeOf = ({ reason, message }: Condition) => ({ reason, message })

function waitingFor(workload: Workload) {
  const { name } = workload.metadata
  const reserved = conditionOf(workload, 'QuotaReserved')
  if (workload.spec.active === false)
    return { reason: 'Deactivated', message: `Workload ${name} is deactivated: set its spec.active to true` }
  if (reserved?.status === 'True') {
    const { reason, message } = conditionOf(workload, 'Admitted') ?? reserved
    return { reason, message: `quota is reserved, and Workload ${name} is not admitted yet: ${message}` }
  }
  if (reserved) return causeOf(reserved)
  return { reason: 'Pending', message: `Kueue has not considered Workload ${name} yet` }
}

function granted(workload: Workload, found: Found): Verdict {
  const { admission } = workload.status ?? {}
  const absent = flavorsOf(workload).find((flavor) => !found.has(referenceKey(flavor)))
  if (!admission) return { ...waitingFor(workload), state: 'waiting' }
  if (absent)
    return { state: 'waiting', reason: 'FlavorNotFound', message: `ResourceFlavor ${absent.name} does not exist` }
  const podSets = admission.podSetAssignments.map((one) => podSetOf(workload, one, found))
  const { uid = '' } = workload.metadata
  const time = conditionOf(workload, 'Admitted')?.lastTransitionTime ?? workload.metadata.creationTimestamp ?? ''
  return { state: 'granted', admission: { clusterQueue: admission.clusterQueue, uid, time, podSets } }
}

type Placement = Omit<PodSetUpdate, 'name'>

function podSetOf(workload: Workload, assignment: PodSetAssignment, found: Found): PodSetAdmission {
  const { name, flavors = {}, topologyAssignment } = assignment
  const podSet = workload.spec.podSets.find((one) => one.name === name)
  const placement = sourcesOf(workload, assignment, found).reduce(merged)
  return {
    name,
    count: assignment.count ?? podSet?.count ?? 0,
    flavors,
    ...placement,
    ...(topologyAssignment && { schedulingGates: [TOPOLOGY_GATE] }),
  }
}

/** As Kueue does it for its own kinds of jobs: labels and tolerations of the flavors, then what admission checks add. */
function sourcesOf(workload: Workload, assignment: PodSetAssignment, found: Found): readonly Placement[] {
  const { name, flavors = {}, topologyAssignment } = assignment
  const { topologyRequest } = workload.spec.podSets.find((one) => one.name === name) ?? {}
  const updates = workload.status?.admissionChecks?.flatMap(({ podSetUpdates = [] }) => podSetUpdates) ?? []
  return [
    { labels: { [PODSET_LABEL]: name }, annotations: { [WORKLOAD_ANNOTATION]: workload.metadata.name } },
    ...(topologyAssignment && !topologyRequest ? [{ annotations: { [UNCONSTRAINED]: 'true' } }] : []),
    ...[...new Set(Object.values(flavors))].toSorted().map((flavor) => placementOf(flavor, found)),
    ...updates.filter((update) => update.name === name),
  ]
}

function placementOf(flavor: string, found: Found): Placement {
  const { spec } = (found.get(referenceKey({ resource: ResourceFlavor, name: flavor })) ?? {}) as {
    readonly spec?: { readonly nodeLabels?: Record<string, string>; readonly tolerations?: PodSetUpdate['tolerations'] }
  }
  return {
    ...(spec?.nodeLabels && { nodeSelector: spec.nodeLabels }),
    ...(spec?.tolerations && { tolerations: spec.tolerations }),
  }
}

function merged(one: Placement, other: Placement): Placement {
  const texts = (field: 'labels' | 'annotations' | 'nodeSelector') =>
    (one[field] ?? other[field]) && { [field]: { ...one[field], ...other[field] } }
  const tolerations = [...(one.tolerations ?? []), ...(other.tolerations ?? [])]
  return {
    ...texts('labels'),
    ...texts('annotations'),
    ...texts('nodeSelector'),
    ...(tolerations.length > 0 && { tolerations }),
  }
}
