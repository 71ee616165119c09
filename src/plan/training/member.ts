/** A member of the gang as it is seen: a seat of some attempt and how whoever sits there fares. */
import type { Pod } from '../../kube/resources.ts'
import type { Seat } from './attempt.ts'
import { ATTEMPT_LABEL, CONTAINER } from './names.ts'

export type MemberPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface Member extends Seat {
  readonly attempt: number
  readonly podName: string
  readonly phase: MemberPhase
  /** Absent while the engine only announces a pod, or when it is gone after its end. */
  readonly pod?: Pod
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function memberOf(pod: Pod, seat: Seat): Member {
  const attempt = Number(pod.metadata.labels?.[ATTEMPT_LABEL] ?? 0)
  return { ...seat, attempt, podName: pod.metadata.name, phase: phaseOf(pod), pod }
}

/** A node that does not answer makes a pod's phase unknown; until it is given up, it counts as running. */
function phaseOf({ status }: Pod): MemberPhase {
  const phase = status?.phase ?? 'Pending'
  return phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed' ? phase : 'Running'
}

export const isGoing = ({ pod }: Member): boolean => pod?.metadata.deletionTimestamp !== undefined

export const isActive = ({ phase }: Member): boolean => phase === 'Pending' || phase === 'Running'

/** How the training container fares; before it, how the first one does that stands in its way. */
export function containerOf({ pod }: Member): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {}
  const stuck = initContainerStatuses.find(({ state }) => state?.waiting || (state?.terminated?.exitCode ?? 0) !== 0)
  return stuck ?? containerStatuses.find(({ name }) => name === CONTAINER) ?? containerStatuses[0]
}
