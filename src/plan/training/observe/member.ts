/** A member of the gang: a replica of an attempt, with the state of its pod. */
import type { Pod } from '../../../kube/resources.ts'
import { millis } from '../../time.ts'
import { ATTEMPT_LABEL, CONTAINER, TEMPLATE_ANNOTATION } from '../names.ts'
import type { Replica } from './attempt.ts'

export type MemberPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface Member extends Replica {
  readonly attempt: number
  readonly podName: string
  readonly phase: MemberPhase
  /** Fingerprint of the template that its pod was created from, if known. */
  readonly template?: string
  /** Absent while the pod is yet to be created, or when it was deleted after its end. */
  readonly pod?: Pod
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function memberOf(pod: Pod, replica: Replica): Member {
  const { labels, annotations, name } = pod.metadata
  const template = annotations?.[TEMPLATE_ANNOTATION]
  const attempt = Number(labels?.[ATTEMPT_LABEL] ?? 0)
  return { ...replica, attempt, podName: name, phase: phaseOf(pod), ...(template !== undefined && { template }), pod }
}

/**
 * The phase of the training process. In a pod with sidecars it is that of the training container once this has ended: the
 * pod itself runs until its sidecars have ended, and fails if one of them does.
 *
 * The phase is Unknown while the node does not respond; the pod counts as running until it is deleted by force.
 */
export function phaseOf(pod: Pod): MemberPhase {
  const phase = pod.status?.phase ?? 'Pending'
  const end = hasSidecars(pod) ? trainingContainer(pod)?.state?.terminated : undefined
  if (end && !isStopped(pod, end.finishedAt)) return end.exitCode === 0 ? 'Succeeded' : 'Failed'
  return phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed' ? phase : 'Running'
}

const hasSidecars = ({ status }: Pod): boolean => (status?.containerStatuses ?? []).length > 1

function trainingContainer({ status }: Pod): ContainerStatus | undefined {
  const { containerStatuses: all = [] } = status ?? {}
  return all.length === 1 ? all[0] : all.find(({ name }) => name === CONTAINER)
}

/** Whether the training process was stopped with its pod, by a deletion, an eviction or its node. It may exit with 0 then. */
function isStopped(pod: Pod, finishedAt: string | undefined): boolean {
  const { conditions = [], reason } = pod.status ?? {}
  const disruption = conditions.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True')
  const times = [deletionRequestedAt(pod), millis(disruption?.lastTransitionTime)].filter((time) => time !== undefined)
  if (times.length === 0) return reason !== undefined || disruption !== undefined
  return (millis(finishedAt) ?? Infinity) >= Math.min(...times)
}

/** The deletionTimestamp is the time at which the grace period ends. */
export function deletionRequestedAt({ metadata }: Pod): number | undefined {
  const until = millis(metadata.deletionTimestamp)
  return until === undefined ? undefined : until - (metadata.deletionGracePeriodSeconds ?? 0) * 1000
}

export const podsOf = (members: readonly Member[]): Pod[] => members.flatMap(({ pod }) => pod ?? [])

export const isTerminating = ({ pod }: Member): boolean => pod?.metadata.deletionTimestamp !== undefined

export const isActive = ({ phase }: Member): boolean => phase === 'Pending' || phase === 'Running'

/** Whether containers of its pod may still run, although the member itself may have ended. */
export function hasActivePod({ phase, pod }: Member): boolean {
  const { phase: podPhase = phase } = pod?.status ?? {}
  return podPhase !== 'Succeeded' && podPhase !== 'Failed'
}

/** Whether sidecars still run after the end of the training process. */
export const isOutlived = (member: Member): boolean =>
  !isActive(member) && member.pod !== undefined && hasActivePod(member)

/** Whether any container of the pod has ever started. */
export function hasStarted({ phase, pod }: Member): boolean {
  if (phase !== 'Pending') return true
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {}
  return [...containerStatuses, ...initContainerStatuses].some(
    ({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated,
  )
}

/** The status of the training container, or of the first init container that blocks it. Never that of a sidecar. */
export function containerOf({ pod }: Member): ContainerStatus | undefined {
  const own = pod && trainingContainer(pod)
  if (own?.state?.running ?? own?.state?.terminated) return own
  return pod?.status?.initContainerStatuses?.find(isBlocking) ?? own
}

const isBlocking = ({ state }: ContainerStatus): boolean =>
  state?.waiting !== undefined || (state?.terminated?.exitCode ?? 0) !== 0

/** The statuses of containers that a pending pod may wait for: what `containerOf` returns, then the sidecars. */
export function startingContainers(member: Member): ContainerStatus[] {
  const first = containerOf(member)
  const others = (member.pod?.status?.containerStatuses ?? []).filter((one) => one !== first)
  return first ? [first, ...others] : others
}
