import type { Pod } from '../kube/resources.ts'
import { isDevice } from '../plan/pod/gpu-environment.ts'

/** A pod without most of its spec, which is never read again: metadata, node or scheduler, devices and status remain. */
export function trimmedPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { phase, reason, message, startTime, podIP, hostIP, conditions, containerStatuses, initContainerStatuses } =
    status ?? {}
  const lean = {
    apiVersion,
    kind,
    metadata,
    spec: { ...placeOf(spec), ...deviceContainers(spec) },
    status: {
      phase,
      reason,
      message,
      startTime,
      podIP,
      hostIP,
      conditions,
      initContainerStatuses: initContainerStatuses?.map(trimmedContainer),
      containerStatuses: containerStatuses?.map(trimmedContainer),
    },
  }
  return lean as Pod
}

/** Its node; while it has none, the scheduler that it waits for. */
function placeOf({ nodeName, schedulerName }: Partial<PodSpec> = {}): object {
  return nodeName === undefined && schedulerName !== undefined ? { schedulerName } : { nodeName }
}

/** Also the ports and the HTTP readiness probe of its containers: what the operator's health checks call. */
export function trimmedServer(pod: Pod): Pod {
  const lean = trimmedPod(pod)
  const containers = pod.spec?.containers.map(({ name, ports, readinessProbe, resources }) => ({
    name,
    ...devicesIn(resources),
    ports: ports?.map((port) => ({ name: port.name, containerPort: port.containerPort })),
    ...(readinessProbe?.httpGet && { readinessProbe: { httpGet: readinessProbe.httpGet } }),
  }))
  return { ...lean, spec: { ...lean.spec, containers } } as Pod
}

type PodSpec = NonNullable<Pod['spec']>
type Container = PodSpec['containers'][number]

/** The containers that have devices, with these alone: most pods have none. */
function deviceContainers({ containers, initContainers = [] }: Partial<PodSpec> = {}): object {
  const lean = (all: readonly Container[]) =>
    all.flatMap(({ name, restartPolicy, resources }) => {
      const devices = devicesIn(resources)
      return devices ? [{ name, ...(restartPolicy !== undefined && { restartPolicy }), ...devices }] : []
    })
  const [own, init] = [lean(containers ?? []), lean(initContainers)]
  return own.length + init.length === 0 ? {} : { containers: own, ...(init.length > 0 && { initContainers: init }) }
}

function devicesIn(resources: Container['resources']): Pick<Container, 'resources'> | undefined {
  const devices = Object.entries({ ...resources?.limits, ...resources?.requests }).filter(([name]) => isDevice(name))
  return devices.length === 0 ? undefined : { resources: { requests: Object.fromEntries(devices) } }
}

/** Also what its containers request: the cost of a job counts it. */
export function trimmedWorker(pod: Pod): Pod {
  const lean = trimmedPod(pod)
  const { containers, initContainers } = pod.spec ?? {}
  const spec = {
    ...lean.spec,
    containers: containers?.map(({ name, resources }) => ({ name, resources })),
    ...(initContainers && {
      initContainers: initContainers.map(({ name, restartPolicy, resources }) => ({ name, restartPolicy, resources })),
    }),
  }
  return { ...lean, spec } as Pod
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

function trimmedContainer({ name, ready, restartCount, state, lastState, imageID }: ContainerStatus) {
  return { name, ready, restartCount, state, lastState, imageID }
}
