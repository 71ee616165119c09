/** What a kubelet says about a pod, in the cases that tests play. */
import type { Pod } from '../src/kube/resources.ts'

export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`

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

interface Said {
  readonly state: object
  readonly lastState?: object
  readonly ready?: boolean
  readonly restartCount?: number
}

function said(
  { name, image = '' }: Container,
  { state, lastState = {}, ready = false, restartCount = 0 }: Said,
): object {
  return { name, image, imageID: '', ready, started: ready, restartCount, state, lastState }
}

const containersOf = ({ spec }: Pod): readonly Container[] => spec?.containers ?? []
const initContainersOf = ({ spec }: Pod): readonly Container[] => spec?.initContainers ?? []

const done = (exitCode: number, reason: string, message?: string): object => ({
  terminated: { exitCode, reason, startedAt: now(), finishedAt: now(), ...(message !== undefined && { message }) },
})

const PHASE_CONDITIONS = (isReady: boolean): object[] => [
  condition('PodScheduled', 'True'),
  condition('Initialized', 'True'),
  condition('ContainersReady', isReady ? 'True' : 'False'),
  condition('Ready', isReady ? 'True' : 'False'),
]

/** An address that no pod has: from the block for documentation, so that nobody is ever reached by it. */
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
    conditions: PHASE_CONDITIONS(isReady),
    initContainerStatuses: initContainersOf(pod).map((one) => said(one, { state: done(0, 'Completed'), ready: true })),
    containerStatuses: containersOf(pod).map((one) =>
      said(one, { state: { running: { startedAt: now() } }, ready: isReady }),
    ),
  }
}

/** Said once under its name, however often it is asked for: the times in it would make it new every second. */
export interface Saying {
  readonly says: string
  readonly status: object
}

export const unready = (pod: Pod): Saying => ({ says: 'unready', status: running(pod, false) })

export const imageMissing = (pod: Pod): Saying => ({ says: 'image missing', status: pullingInVain(pod) })

function pullingInVain(pod: Pod): object {
  const waiting = ({ image }: Container): object => ({
    waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` },
  })
  return {
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'True')],
    containerStatuses: containersOf(pod).map((one) => said(one, { state: waiting(one) })),
  }
}

const backOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' } }

/** Every start of its container ends so. */
export function crashLooping(pod: Pod, exitCode: number, restartCount = 3): Saying {
  const lastState = done(exitCode, 'Error')
  const status = {
    phase: 'Running',
    startTime: now(),
    conditions: PHASE_CONDITIONS(false),
    containerStatuses: containersOf(pod).map((one) => said(one, { state: backOff, lastState, restartCount })),
  }
  return { says: `crash ${exitCode} ${restartCount}`, status }
}

/** An init container has ended badly, and left this message. */
export function initFailing(pod: Pod, message: string, restartCount = 2): Saying {
  const lastState = done(1, 'Error', message)
  const waiting = { waiting: { reason: 'PodInitializing' } }
  const status = {
    phase: 'Pending',
    startTime: now(),
    conditions: [condition('PodScheduled', 'True'), condition('Initialized', 'False')],
    initContainerStatuses: initContainersOf(pod).map((one) => said(one, { state: backOff, lastState, restartCount })),
    containerStatuses: containersOf(pod).map((one) => said(one, { state: waiting })),
  }
  return { says: message, status }
}

export interface End {
  readonly exitCode: number
  readonly reason?: string
  /** Why it was taken away, if nobody asked it. */
  readonly disruption?: string
}

export function ended(pod: Pod, { exitCode, reason, disruption }: End): object {
  const state = done(exitCode, reason ?? (exitCode === 0 ? 'Completed' : 'Error'))
  const why = disruption === undefined ? [] : [condition('DisruptionTarget', 'True', { reason: disruption })]
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [condition('PodScheduled', 'True'), condition('Ready', 'False'), ...why],
    containerStatuses: containersOf(pod).map((one) => said(one, { state })),
  }
}
