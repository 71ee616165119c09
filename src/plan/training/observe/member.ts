/** A member of the gang: a replica of an attempt, with the state of its pod. */
import type { Pod } from '../../../kube/resources.ts'
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

/** The phase is Unknown while the node does not respond; the pod counts as running until it is deleted by force. */
function phaseOf({ status }: Pod): MemberPhase {
  const phase = status?.phase ?? 'Pending'
  return phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed' ? phase : 'Running'
}

export const podsOf = (members: readonly Member[]): Pod[] => members.flatMap(({ pod }) => pod ?? [])

export const isTerminating = ({ pod }: Member): boolean => pod?.metadata.deletionTimestamp !== undefined

export const isActive = ({ phase }: Member): boolean => phase === 'Pending' || phase === 'Running'

/** Whether any container of the pod has ever started. */
export function hasStarted({ phase, pod }: Member): boolean {
  if (phase !== 'Pending') return true
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {}
  return [...containerStatuses, ...initContainerStatuses].some(
    ({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated,
  )
}

/** The status of the training container, or of the first init container that blocks it. */
export function containerOf({ pod }: Member): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {}
  const blocking = initContainerStatuses.find(({ state }) => state?.waiting || (state?.terminated?.exitCode ?? 0) !== 0)
  return blocking ?? containerStatuses.find(({ name }) => name === CONTAINER) ?? containerStatuses[0]
}
