/** The PodGroup of a job, and what makes its pods members of it. */
import type { KubeObject } from '../../../kube/object.ts'
import { amountsOf, podRequests, times, total } from '../../pod/requests.ts'
import type { Gang, Membership } from '../gangs/contract.ts'
import { objectLabels, podName } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import { gangChoice, isServed, neededReplicas } from '../observe/gang-choice.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { gangTimeoutSeconds } from '../observe/partial-gang.ts'
import { podTemplate } from './pod-template.ts'

/** Undefined if the pods of the attempt need none, or the cluster does not serve the kind. */
export function podGroupOf(observed: TrainingObserved, attempt: Attempt): KubeObject | undefined {
  const { scheduler } = gangChoice(observed, attempt)
  if (attempt.number === 0 || !isServed(scheduler, observed) || scheduler.kinds.length === 0) return undefined
  return scheduler.groupOf(gangOf(observed, attempt))
}

function gangOf(observed: TrainingObserved, attempt: Attempt): Gang {
  const { job } = observed
  const { queueName, priorityClassName } = job.spec.scheduling ?? {}
  return {
    jobName: job.metadata.name,
    labels: { ...objectLabels(job, 'workers'), component: 'workers' },
    minMembers: neededReplicas(observed, attempt).length,
    minResources: minResourcesOf(observed, attempt),
    timeoutSeconds: gangTimeoutSeconds(observed),
    ...(queueName !== undefined && { queueName }),
    ...(priorityClassName !== undefined && { priorityClassName }),
  }
}

function minResourcesOf(observed: TrainingObserved, attempt: Attempt): Record<string, string> {
  const { job, config } = observed
  const byRole = Map.groupBy(neededReplicas(observed, attempt), ({ role }) => role)
  const requests = [...byRole].map(([role, { length }]) => {
    const pod = { job, attempt, role, index: '0', rank: { name: 'RANK' }, hostname: podName }
    return times(podRequests(podTemplate(pod, config).spec), length)
  })
  return amountsOf(total(requests))
}

/** For every pod of the attempt. A `schedulerName` of the spec takes precedence. */
export function membershipOf(observed: TrainingObserved, attempt: Attempt): Membership | undefined {
  const { job, config } = observed
  const { scheduler } = gangChoice(observed, attempt)
  if (scheduler.kinds.length === 0) return undefined
  const minMembers = neededReplicas(observed, attempt).length
  const { spec, ...metadata } = scheduler.membershipIn({ jobName: job.metadata.name, minMembers })
  const schedulerName = job.spec.scheduling?.schedulerName ?? config.gangSchedulerNames[scheduler.name]
  return { ...metadata, spec: { ...spec, ...(schedulerName !== undefined && { schedulerName }) } }
}
