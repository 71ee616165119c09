/** Things that are done to a pod, by nodes, schedulers and people, and that its training process cannot help. */
import type { Pod } from '../../kube/resources.ts'
import { isOnDeadNode } from './dead-nodes.ts'
import { containerOf, isActive, isGoing, type Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import { millis } from '../time.ts'

export interface Disruption {
  readonly reason: string
  readonly message: string
  readonly at: number
}

export function disruptionOf(observed: TrainingObserved, member: Member): Disruption | undefined {
  const { pod } = member
  if (!pod) return undefined
  const { now } = observed
  return marked(member, pod, now) ?? refused(pod, now) ?? deleted(member, pod, now) ?? stranded(observed, member)
}

/** Kubernetes says so itself. The mark comes before the blow, so a pod that is marked and well is still well. */
function marked(member: Member, { status }: Pod, now: number): Disruption | undefined {
  const mark = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True')
  if (!mark || (isActive(member) && !isGoing(member))) return undefined
  const { reason = '', message = reason, lastTransitionTime } = mark
  return { reason: MARKS[reason] ?? 'Disrupted', message, at: millis(lastTransitionTime) ?? now }
}

const MARKS: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'Preempted',
  DeletionByTaintManager: 'NodeLost',
  DeletionByPodGC: 'NodeLost',
  EvictionByEvictionAPI: 'Evicted',
  TerminationByKubelet: 'NodeShutdown',
}

/** The node would not have the pod: nothing of it ever ran. */
function refused({ status }: Pod, now: number): Disruption | undefined {
  const { phase, reason = '', message = reason, containerStatuses = [] } = status ?? {}
  if (phase !== 'Failed' || containerStatuses.length > 0 || !REFUSALS.test(reason)) return undefined
  return { reason, message, at: now }
}

const REFUSALS = /^(OutOf|NodeAffinity|UnexpectedAdmission|Preempting|NodeShutdown|NodeLost)/

export const DELETED = 'PodDeleted'

/** Somebody deleted it while it ran. One that had failed before counts as failed. */
function deleted(member: Member, pod: Pod, now: number): Disruption | undefined {
  if (!isGoing(member)) return undefined
  const requested = deletionRequestedAt(pod) ?? now
  const ended = millis(containerOf(member)?.state?.terminated?.finishedAt)
  if (member.phase === 'Failed' && ended !== undefined && ended < requested) return undefined
  return { reason: DELETED, message: 'somebody deleted the pod', at: requested }
}

/** A deletion is stamped with the time at which its grace ends. */
function deletionRequestedAt({ metadata }: Pod): number | undefined {
  const until = millis(metadata.deletionTimestamp)
  return until === undefined ? undefined : until - (metadata.deletionGracePeriodSeconds ?? 0) * 1000
}

function stranded(observed: TrainingObserved, member: Member): Disruption | undefined {
  if (!isActive(member) || !isOnDeadNode(observed, member)) return undefined
  return { reason: 'NodeLost', message: 'its node no longer answers', at: observed.now }
}
