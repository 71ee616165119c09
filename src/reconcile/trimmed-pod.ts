import type { Pod } from '../kube/resources.ts'

/** A pod without most of its spec, which is never read again: metadata, node and status remain. */
export function trimmedPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { phase, reason, message, startTime, podIP, conditions, containerStatuses, initContainerStatuses } =
    status ?? {}
  const lean = {
    apiVersion,
    kind,
    metadata,
    spec: { nodeName: spec?.nodeName },
    status: {
      phase,
      reason,
      message,
      startTime,
      podIP,
      conditions,
      initContainerStatuses: initContainerStatuses?.map(trimmedContainer),
      containerStatuses: containerStatuses?.map(trimmedContainer),
    },
  }
  return lean as Pod
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

function trimmedContainer({ name, ready, restartCount, state, lastState }: ContainerStatus) {
  return { name, ready, restartCount, state, lastState }
}
