/**
 * The health of server pods: what the operator's own checks found, and how often a pod restarted.
 *
 * A failed check counts only if there is reason to trust it. The operator may not be able to reach a pod that is well: network
 * policies, a service mesh that demands certificates, an authorization policy. So a pod is failing only if it has passed a check
 * of this process before, or if the kubelet too reports it as not ready. A pod that cannot be connected to is unreachable, which
 * says nothing about the pod.
 */
import type { Eviction } from '../../../api/health-status.ts'
import type { Pod } from '../../../kube/resources.ts'
import { isPodReady } from '../../pod-ready.ts'
import { millis } from '../../time.ts'

/** What the checks of one pod found. */
export interface PodHealth {
  /** Path that was requested. */
  readonly path: string
  /** Failed checks in a row. A check without a connection does not end the row. */
  readonly failures: number
  /** Checks in a row that did not get a connection. */
  readonly misses: number
  /** It has passed a check since it is followed. */
  readonly hasPassed: boolean
  /** How the last failed check ended, such as `answered HTTP 500`. */
  readonly answer?: string
}

export interface SickPod extends Pick<Eviction, 'reason' | 'message'> {
  readonly pod: Pod
}

/** `failureThreshold` of the spec, and its default. */
export const FAILURE_THRESHOLD = 3
/** As in the first specification of the health check: more restarts than these. */
const MAX_RESTARTS = 5
/** Restarts of long ago do not count. */
const RECENT_MS = 3_600_000

export function sicknessOf(
  pod: Pod,
  health: PodHealth | undefined,
  { threshold, now }: { readonly threshold: number; readonly now: number },
): SickPod | undefined {
  if (health && health.failures >= threshold && (health.hasPassed || !isPodReady(pod))) {
    // Without the number of failures, which grows with every check.
    const message = `${health.path} ${health.answer ?? 'failed'}, at least ${threshold} times in a row`
    return { pod, reason: 'HealthCheckFailing', message: message.slice(0, MAX_MESSAGE) }
  }
  const restarts = recentRestarts(pod, now)
  if (restarts <= MAX_RESTARTS) return undefined
  return { pod, reason: 'TooManyRestarts', message: `restarted ${restarts} times` }
}

const MAX_MESSAGE = 256

export const isUnreachable = (health: PodHealth | undefined, threshold: number): boolean =>
  health !== undefined && health.misses >= threshold && health.failures < threshold

/** It answers well now. */
export const isWell = (health: PodHealth | undefined): boolean =>
  health !== undefined && health.hasPassed && health.failures === 0 && health.misses === 0

/** Of the container that restarted most. 0 if the last restart was long ago. */
function recentRestarts({ status }: Pod, now: number): number {
  const recent = (status?.containerStatuses ?? []).filter(
    ({ lastState }) => now - (millis(lastState?.terminated?.finishedAt) ?? now) <= RECENT_MS,
  )
  return Math.max(0, ...recent.map(({ restartCount }) => restartCount))
}

/**
 * It has been ready since its server started, so a failed check does not mean that it is still loading its model. A pod that was
 * never ready has the condition from before its containers started.
 */
export function hasBeenReadySinceStart(pod: Pod, container: string): boolean {
  if (isPodReady(pod)) return true
  const server = pod.status?.containerStatuses?.find(({ name }) => name === container)
  const startedAt = millis(server?.state?.running?.startedAt)
  const changedAt = unreadySince(pod)
  return startedAt !== undefined && changedAt !== undefined && changedAt > startedAt
}

/** Since when the pod is not ready, in milliseconds of the epoch. Undefined if it is ready, or if that is not known. */
export function unreadySince({ status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' ? undefined : millis(ready?.lastTransitionTime)
}
