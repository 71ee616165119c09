/** Disruptions: a pod was preempted, evicted, deleted, rejected by its node, or lost its node. */
import type { Pod } from '../../../kube/resources.ts'
import { millis } from '../../time.ts'
import { isOnDeadNode } from './dead-nodes.ts'
import { containerOf, deletionRequestedAt, isActive, isTerminating, type Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'

export interface Disruption {
  readonly reason: string
  readonly message: string
  readonly at: number
}

export function disruptionOf(observed: TrainingObserved, member: Member): Disruption | undefined {
  const { pod } = member
  if (!pod) return undefined
  const { now } = observed
  return (
    disruptionTarget(member, pod, now) ??
    rejectedByNode(pod, now) ??
    deleted(member, pod, now) ??
    nodeLost(observed, member)
  )
}

/** The condition `DisruptionTarget` is set before the eviction, so a pod that still runs has not been evicted yet. */
function disruptionTarget(member: Member, { status }: Pod, now: number): Disruption | undefined {
  const condition = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True')
  if (!condition || (isActive(member) && !isTerminating(member))) return undefined
  const { reason = '', message = reason, lastTransitionTime } = condition
  return { reason: REASONS[reason] ?? 'Disrupted', message, at: millis(lastTransitionTime) ?? now }
}

const REASONS: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'Preempted',
  DeletionByTaintManager: 'NodeLost',
  DeletionByPodGC: 'NodeLost',
  EvictionByEvictionAPI: 'Evicted',
  TerminationByKubelet: 'NodeShutdown',
}

/** The kubelet rejected the pod: no container ever ran. */
function rejectedByNode({ status }: Pod, now: number): Disruption | undefined {
  const { phase, reason = '', message = reason, containerStatuses = [] } = status ?? {}
  if (phase !== 'Failed' || containerStatuses.length > 0 || !NODE_REJECTIONS.test(reason)) return undefined
  return { reason, message, at: now }
}

const NODE_REJECTIONS = /^(OutOf|NodeAffinity|UnexpectedAdmission|Preempting|NodeShutdown|NodeLost)/

export const DELETED = 'PodDeleted'

/** Deleted while it ran. A pod that had failed before counts as failed. */
function deleted(member: Member, pod: Pod, now: number): Disruption | undefined {
  if (!isTerminating(member)) return undefined
  const requested = deletionRequestedAt(pod) ?? now
  const ended = millis(containerOf(member)?.state?.terminated?.finishedAt)
  if (member.phase === 'Failed' && ended !== undefined && ended < requested) return undefined
  return { reason: DELETED, message: 'The pod was deleted', at: requested }
}

function nodeLost(observed: TrainingObserved, member: Member): Disruption | undefined {
  if (!isActive(member) || !isOnDeadNode(observed, member)) return undefined
  return { reason: 'NodeLost', message: 'The node is not ready', at: observed.now }
}
