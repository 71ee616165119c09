/**
 * The Workload of a gang: one pod set for each role. Kueue does not permit a change of pod sets that have quota, so the name
 * has a hash of what Kueue decides by, and another content is another Workload. Edits that Kueue does not care about, such as
 * another image, keep the quota.
 */
import { canonicalJson, type Json } from '../../../../api/json.ts'
import { apiVersionOf } from '../../../../kube/object.ts'
import { fingerprint } from '../../../fingerprint.ts'
import { amountsOf, podRequests } from '../../../pod/requests.ts'
import type { Gang, PodSet } from '../contract.ts'
import { type Found, type Reference, referenceKey } from '../quota.ts'
import { PriorityClass, Workload, WorkloadPriorityClass, type WorkloadPodSet } from './kinds.ts'

/** On jobs: the WorkloadPriorityClass. */
const PRIORITY_LABEL = 'kueue.x-k8s.io/priority-class'

const TOPOLOGY_ANNOTATIONS = {
  required: 'kueue.x-k8s.io/podset-required-topology',
  preferred: 'kueue.x-k8s.io/podset-preferred-topology',
} as const
const UNCONSTRAINED = 'kueue.x-k8s.io/podset-unconstrained-topology'

export function workloadOf(gang: Gang, found: Found = new Map()): Workload {
  const priority = priorityReference(gang)
  const { value = 0 } = (priority && (found.get(referenceKey(priority)) as { value?: number } | undefined)) ?? {}
  return {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { name: workloadName(gang), labels: gang.labels },
    spec: {
      podSets: gang.podSets.map(podSetOf),
      ...(gang.queueName !== undefined && { queueName: gang.queueName }),
      ...(priority && { priorityClassRef: classRef(priority), priority: value }),
    },
  }
}

export function workloadName(gang: Gang): string {
  const { jobName, podSets, queueName = '' } = gang
  const priority = priorityReference(gang)
  const content = [queueName, priority ? referenceKey(priority) : '', ...podSets.map((one) => demandOf(podSetOf(one)))]
  return `${jobName}-${fingerprint(JSON.stringify(content))}`
}

/** A WorkloadPriorityClass takes precedence over the PriorityClass of the pods, as in Kueue. */
export function priorityReference({ jobLabels, priorityClassName }: Gang): Reference | undefined {
  const own = jobLabels[PRIORITY_LABEL]
  if (own !== undefined) return { resource: WorkloadPriorityClass, name: own }
  return priorityClassName === undefined ? undefined : { resource: PriorityClass, name: priorityClassName }
}

const classRef = ({ resource: { group, kind }, name }: Reference) => ({ group, kind, name })

function podSetOf({ role, count, minCount, template }: PodSet): WorkloadPodSet {
  const { labels, annotations } = template.metadata
  const topologyRequest = topologyRequestOf(annotations)
  return {
    name: role,
    count,
    ...(minCount !== undefined && minCount < count && { minCount }),
    template: { metadata: { labels }, spec: schedulable(template.spec) },
    ...(topologyRequest && { topologyRequest }),
  }
}

function topologyRequestOf(annotations: Readonly<Record<string, string>>): object | undefined {
  const levels = Object.entries(TOPOLOGY_ANNOTATIONS).flatMap(([field, key]) =>
    annotations[key] === undefined ? [] : [[field, annotations[key]] as const],
  )
  const request = {
    ...Object.fromEntries(levels),
    ...(annotations[UNCONSTRAINED] === 'true' && { unconstrained: true }),
  }
  return Object.keys(request).length === 0 ? undefined : request
}

type PodSpec = WorkloadPodSet['template']['spec']

/** What decides where a pod can run. Environment, volumes and commands are left out: a Workload is not for everyone's eyes. */
function schedulable(spec: PodSpec): PodSpec {
  const { nodeSelector, affinity, tolerations, priorityClassName, schedulerName, runtimeClassName, overhead } = spec
  const { topologySpreadConstraints, resourceClaims, initContainers } = spec
  const kept = { nodeSelector, affinity, tolerations, priorityClassName, schedulerName, runtimeClassName, overhead }
  const present = Object.entries({ ...kept, topologySpreadConstraints, resourceClaims }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    restartPolicy: 'Never',
    ...Object.fromEntries(present),
    ...(initContainers && { initContainers: initContainers.map(sized) }),
    containers: spec.containers.map(sized),
  }
}

type Container = PodSpec['containers'][number]

const sized = ({ name, image, resources, restartPolicy }: Container): Container => ({
  name,
  ...(image !== undefined && { image }),
  ...(resources && { resources }),
  ...(restartPolicy !== undefined && { restartPolicy }),
})

/** What Kueue decides by, as text. The same for what the API server has stored of it. */
export function demandOf({ name, count, minCount, template, topologyRequest }: WorkloadPodSet): string {
  const { containers, initContainers, restartPolicy: _fixed, ...placement } = template.spec
  const requests = amountsOf(podRequests({ containers, ...(initContainers && { initContainers }) }))
  const demand = { name, count, minCount, placement, topologyRequest, requests }
  return canonicalJson(JSON.parse(JSON.stringify(demand)) as Json)
}
