/** The group of a job for its gang scheduler, and what makes its pods members of it. */
import type { PodSetAdmission } from '../../../api/training-quota.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { amountsOf, podRequests, times, total } from '../../pod/requests.ts'
import { replicasOf } from '../frameworks/roles.ts'
import type { Gang, Membership, Placement, PodSet } from '../gangs/contract.ts'
import { ATTEMPT_LABEL, objectLabels, podName, WORKER } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import { gangChoice, isServed, neededReplicas, queueOf, recordedAdmission } from '../observe/gang-choice.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { gangTimeoutSeconds } from '../observe/partial-gang.ts'
import { podTemplate } from './pod-template.ts'

/** Undefined if the pods of the attempt need none, or the cluster does not serve the kind. */
export function podGroupOf(observed: TrainingObserved, attempt: Attempt): KubeObject | undefined {
  const { scheduler } = gangChoice(observed, attempt)
  if (attempt.number === 0 || !isServed(scheduler, observed) || scheduler.kinds.length === 0) return undefined
  return scheduler.groupOf(gangOf(observed, attempt), observed.found)
}

export function gangOf(observed: TrainingObserved, attempt: Attempt): Gang {
  const { job } = observed
  const { priorityClassName } = job.spec.scheduling ?? {}
  const queueName = queueOf(job, gangChoice(observed, attempt).scheduler)
  return {
    jobName: job.metadata.name,
    jobLabels: job.metadata.labels ?? {},
    labels: { ...objectLabels(job, 'workers'), component: 'workers' },
    podSets: podSetsOf(observed, attempt),
    minMembers: neededReplicas(observed, attempt).length,
    minResources: minResourcesOf(observed, attempt),
    timeoutSeconds: gangTimeoutSeconds(observed),
    ...(queueName !== undefined && { queueName }),
    ...(priorityClassName !== undefined && { priorityClassName }),
  }
}

function podSetsOf({ job, config }: TrainingObserved, attempt: Attempt): PodSet[] {
  const { minWorkers } = job.spec.elastic ?? {}
  return [...Map.groupBy(replicasOf(job, attempt), ({ role }) => role)].map(([role, { length }]) => {
    const { metadata, spec } = podTemplate(sampleOf(job, attempt, role), config)
    const { [ATTEMPT_LABEL]: _changing, ...labels } = metadata.labels
    return {
      role,
      count: length,
      ...(role === WORKER && minWorkers !== undefined && { minCount: minWorkers }),
      template: { metadata: { labels, annotations: metadata.annotations }, spec },
    }
  })
}

const sampleOf = (job: TrainingObserved['job'], attempt: Attempt, role: string) => ({
  job,
  attempt,
  role,
  index: '0',
  rank: { name: 'RANK' },
  hostname: podName,
})

function minResourcesOf(observed: TrainingObserved, attempt: Attempt): Record<string, string> {
  const { job, config } = observed
  const byRole = Map.groupBy(neededReplicas(observed, attempt), ({ role }) => role)
  const requests = [...byRole].map(([role, { length }]) =>
    times(podRequests(podTemplate(sampleOf(job, attempt, role), config).spec), length),
  )
  return amountsOf(total(requests))
}

/** For every pod of this role in the attempt. A `schedulerName` of the spec takes precedence. */
export function membershipOf(observed: TrainingObserved, attempt: Attempt, role: string): Membership | undefined {
  const { job, config } = observed
  const { scheduler } = gangChoice(observed, attempt)
  if (scheduler.kinds.length === 0) return undefined
  const minMembers = neededReplicas(observed, attempt).length
  const { spec, ...metadata } = scheduler.membershipIn({ jobName: job.metadata.name, minMembers })
  const granted = recordedAdmission(observed, attempt)?.podSets.find(({ name }) => name === role)
  const schedulerName = job.spec.scheduling?.schedulerName ?? config.gangSchedulerNames[scheduler.name]
  return {
    ...metadata,
    spec: { ...spec, ...(schedulerName !== undefined && { schedulerName }) },
    ...(granted && grantedTo(granted, metadata)),
  }
}

/** What the quota adds to the pods. */
const grantedTo = (granted: PodSetAdmission, { labels, annotations }: Membership): Membership => ({
  labels: { ...labels, ...granted.labels },
  annotations: { ...annotations, ...granted.annotations },
  placement: placementOf(granted),
})

const placementOf = ({ nodeSelector, tolerations, schedulingGates }: PodSetAdmission): Placement => ({
  nodeSelector: nodeSelector ?? {},
  tolerations: tolerations ?? [],
  schedulingGates: schedulingGates?.map((name) => ({ name })) ?? [],
})
