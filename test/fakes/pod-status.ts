/** Pod statuses as a kubelet reports them. */
import type { Pod } from '../../src/kube/resources.ts'
import { timestamp } from '../../src/plan/time.ts'

export const now = (): string => timestamp(Date.now())

export const condition = (type: string, status: 'True' | 'False', more: object = {}): object => ({
  type,
  status,
  lastTransitionTime: now(),
  ...more,
})

interface Container {
  readonly name: string
  readonly image?: string
}

interface ContainerStatus {
  readonly state: object
  readonly lastState?: object
  readonly ready?: boolean
  readonly restartCount?: number
}

function containerStatus(
  { name, image = '' }: Container,
  { state, lastState = {}, ready = false, restartCount = 0 }: ContainerStatus,
): object {
  return { name, image, imageID: '', ready, started: ready, restartCount, state, lastState }
}

const containersOf = ({ spec }: Pod): readonly Container[] => spec?.containers ?? []
const initContainersOf = ({ spec }: Pod): readonly Container[] => spec?.initContainers ?? []

const done = (exitCode: number, reason: string, message?: string): object => ({
  terminated: { exitCode, reason, startedAt: now(), finishedAt: now(), ...(message !== undefined && { message }) },
})

/** The time of the placement stays. */
const scheduled = ({ status }: Pod): object =>
  status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'True') ??
  condition('PodScheduled', 'True')

const podConditions = (pod: Pod, isReady: boolean): object[] => [
  scheduled(pod),
  condition('Initialized', 'True'),
  condition('ContainersReady', isReady ? 'True' : 'False'),
  condition('Ready', isReady ? 'True' : 'False'),
]

/** An address of the block for documentation, so that nothing is ever reached at it. */
const addressOf = (pod: Pod): string => {
  const digits = Number.parseInt((pod.metadata.uid ?? '0').slice(0, 4), 16)
  return `203.0.113.${(digits % 254) + 1}`
}

export function running(pod: Pod, isReady = true): object {
  const podIP = addressOf(pod)
  return {
    phase: 'Running',
    startTime: now(),
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: podConditions(pod, isReady),
    initContainerStatuses: initContainersOf(pod).map((one) =>
      containerStatus(one, { state: done(0, 'Completed'), ready: true }),
    ),
    containerStatuses: containersOf(pod).map((one) =>
      containerStatus(one, { state: { running: { startedAt: now() } }, ready: isReady }),
    ),
  }
}

/** A status that is reported once for its name: the times in it differ with every call. */
export interface NamedStatus {
  readonly name: string
  readonly status: object
}

export const unready = (pod: Pod): NamedStatus => ({ name: 'unready', status: running(pod, false) })

/** Its server started long ago, was ready, and is not any more. */
export function noLongerReady(pod: Pod): NamedStatus {
  const containerStatuses = containersOf(pod).map((one) =>
    containerStatus(one, { state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }),
  )
  return { name: 'no longer ready', status: { ...running(pod, false), containerStatuses } }
}

export const imageMissing = (pod: Pod): NamedStatus => ({ name: 'image missing', status: imagePullBackOff(pod) })

function imagePullBackOff(pod: Pod): object {
  const waiting = ({ image }: Container): object => ({
    waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` },
  })
  return {
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'True')],
    containerStatuses: containersOf(pod).map((one) => containerStatus(one, { state: waiting(one) })),
  }
}

const backOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' } }

/** Every start of its container ends with this exit code. */
export function crashLooping(pod: Pod, exitCode: number, restartCount = 3): NamedStatus {
  const lastState = done(exitCode, 'Error')
  const status = {
    phase: 'Running',
    startTime: now(),
    conditions: podConditions(pod, false),
    containerStatuses: containersOf(pod).map((one) =>
      containerStatus(one, { state: backOff, lastState, restartCount }),
    ),
  }
  return { name: `crash ${exitCode} ${restartCount}`, status }
}

/** An init container has failed with this termination message. */
export function initFailing(pod: Pod, message: string, restartCount = 2): NamedStatus {
  const lastState = done(1, 'Error', message)
  const waiting = { waiting: { reason: 'PodInitializing' } }
  const status = {
    phase: 'Pending',
    startTime: now(),
    conditions: [condition('PodScheduled', 'True'), condition('Initialized', 'False')],
    initContainerStatuses: initContainersOf(pod).map((one) =>
      containerStatus(one, { state: backOff, lastState, restartCount }),
    ),
    containerStatuses: containersOf(pod).map((one) => containerStatus(one, { state: waiting })),
  }
  return { name: message, status }
}

export interface End {
  readonly exitCode: number
  readonly reason?: string
  /** The reason of the condition DisruptionTarget, if the pod was disrupted. */
  readonly disruption?: string
  readonly message?: string
}

export function ended(pod: Pod, { exitCode, reason, disruption, message }: End): object {
  const state = done(exitCode, reason ?? (exitCode === 0 ? 'Completed' : 'Error'), message)
  const why = disruption === undefined ? [] : [condition('DisruptionTarget', 'True', { reason: disruption })]
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [scheduled(pod), condition('Ready', 'False'), ...why],
    containerStatuses: containersOf(pod).map((one) => containerStatus(one, { state })),
  }
}
