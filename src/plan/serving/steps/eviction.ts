/**
 * Which sick pod of each version is evicted, so that its Deployment replaces it.
 *
 *     a pod is sick ──▶ recorded as `evicting` ──▶ evicted ──▶ observed to be gone: counted
 *                              └── it recovered, or can no longer be spared: the record is dropped
 *
 * - One pod of a version at a time, and not while the Deployment replaces pods or a pod is starting.
 * - Never the last ready pod. If no pod is ready, a sick one is evicted only after ten minutes, as the last resort.
 * - With a delay that doubles with each eviction, and not more than `MAX_EVICTIONS` one after another.
 */
import { compact } from '../../../api/json.ts'
import type { Eviction, VersionHealth } from '../../../api/health-status.ts'
import type { Pod } from '../../../kube/resources.ts'
import { isPodReady } from '../../pod-ready.ts'
import { millis, notBefore } from '../../time.ts'
import { isWell, type SickPod, unreadySince } from '../observe/pod-health.ts'
import type { VersionFindings } from '../observe/version-health.ts'
import { hasBeenReady, isRolling, type Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'

/** One after another: the next ones come after `FORGET_MS` without an eviction. */
export const MAX_EVICTIONS = 10
const FORGET_MS = 6 * 3_600_000
const BASE_MS = 60_000
const CEILING_MS = 3_600_000
/** How long no pod has been ready before a sick one is evicted although no other is ready. */
export const LAST_RESORT_MS = 10 * 60_000
/** An eviction that a PodDisruptionBudget does not allow is tried again. */
const RETRY_MS = 30_000

export interface Replacement {
  /** Entry in the status. */
  readonly record?: VersionHealth
  /** Recorded by an earlier pass: it is evicted now. */
  readonly evict?: Pod
  /** Observed to be gone since the last pass. */
  readonly evicted?: Eviction
  /** When to look again, in milliseconds of the epoch. */
  readonly wakeAt?: number
  /** Why no pod is evicted now although one is sick. */
  readonly held?: string
}

/** The replacement of every version, by name. */
export function replaceSick(view: ModelView): ReadonlyMap<string, Replacement> {
  return new Map(view.versions.map((version) => [version.name, replacementOf(view, version)]))
}

function replacementOf(view: ModelView, version: Version): Replacement {
  const found = view.findings.get(version.name) ?? NOTHING
  const due = version.recorded?.health?.evicting
  const next = due ? pursued(view, version, due) : chosen(view, version, found)
  const record = recordOf(version, found, next)
  const { evicting: _evicting, ...rest } = next
  return { ...rest, ...(record && { record }) }
}

const NOTHING: VersionFindings = { sick: [], unreachable: 0, healthy: 0 }

interface Next extends Omit<Replacement, 'record'> {
  readonly evicting?: Eviction
  readonly counted?: Pick<VersionHealth, 'evictions' | 'lastEvictionTime'>
}

/** The recorded eviction is carried out, unless the pod is gone, recovered or can no longer be spared. */
function pursued(view: ModelView, version: Version, due: Eviction): Next {
  const { now } = view
  const pod = version.pods.find(({ metadata }) => metadata.uid === due.uid)
  if (!pod) return { evicted: due, counted: { evictions: inARow(version, now) + 1, lastEvictionTime: notBefore(now) } }
  if (!version.wanted || hasRecovered(view, version, due) || !isSpared(version, pod, now)) return {}
  return { evicting: due, evict: pod, wakeAt: now + RETRY_MS }
}

/** After a restart of the operator nothing is known of the pod: the recorded decision holds. */
function hasRecovered({ observed, findings }: ModelView, { name }: Version, { uid, reason }: Eviction): boolean {
  if (reason === 'HealthCheckFailing') return isWell(observed.health?.get(uid))
  return !findings.get(name)?.sick.some(({ pod }) => pod.metadata.uid === uid)
}

function chosen(view: ModelView, version: Version, { sick }: VersionFindings): Next {
  if (sick.length === 0 || !version.wanted || !hasBeenReady(version)) return {}
  const { now } = view
  if (isRolling(version) || isStarting(version, sick)) return { held: 'its other pods are being replaced' }
  const allowedAt = allowedFrom(version, now)
  if (allowedAt > now) return { held: `the next one is evicted after ${notBefore(allowedAt)}`, wakeAt: allowedAt }
  const candidate = sick.toSorted(byUrgency).find(({ pod }) => isSpared(version, pod, now))
  if (!candidate) return stays(version)
  const { pod, reason, message } = candidate
  return { evicting: { pod: pod.metadata.name, uid: pod.metadata.uid ?? '', reason, message } }
}

/** A pod that is not sick and not ready: a replacement, which may turn out to be no better. */
function isStarting({ pods }: Version, sick: readonly SickPod[]): boolean {
  return pods.some((pod) => !isPodReady(pod) && !sick.some((one) => one.pod === pod))
}

function stays(version: Version): Next {
  if (version.pods.some(isPodReady)) return { held: 'the last ready pod stays until another one is ready' }
  const at = lastResortAt(version)
  const held = 'no pod is ready, so the pods stay for now'
  return at === undefined ? { held } : { held, wakeAt: at }
}

/** Pods that are not ready first, then by name, so that the choice does not depend on the order of a list. */
function byUrgency(one: SickPod, other: SickPod): number {
  const order = Number(isPodReady(one.pod)) - Number(isPodReady(other.pod))
  return order === 0 ? one.pod.metadata.name.localeCompare(other.pod.metadata.name) : order
}

/** Another pod is ready, or none has been for so long that there is nothing to lose. */
function isSpared(version: Version, pod: Pod, now: number): boolean {
  if (version.pods.some((other) => other !== pod && isPodReady(other))) return true
  return !isPodReady(pod) && now >= (lastResortAt(version) ?? Infinity)
}

/** Undefined if it is not known since when a pod is not ready. */
function lastResortAt({ pods }: Version): number | undefined {
  const since = pods.map((pod) => unreadySince(pod) ?? Infinity)
  const latest = Math.max(...since)
  return Number.isFinite(latest) ? latest + LAST_RESORT_MS : undefined
}

/** Evictions one after another. */
function inARow({ recorded }: Version, now: number): number {
  const { evictions = 0, lastEvictionTime } = recorded?.health ?? {}
  return now - (millis(lastEvictionTime) ?? 0) >= FORGET_MS ? 0 : evictions
}

function allowedFrom(version: Version, now: number): number {
  const last = millis(version.recorded?.health?.lastEvictionTime)
  const count = inARow(version, now)
  if (last === undefined || count === 0) return 0
  return last + (count >= MAX_EVICTIONS ? FORGET_MS : Math.min(CEILING_MS, BASE_MS * 2 ** (count - 1)))
}

/** Undefined if there is nothing to report. */
function recordOf(
  { recorded }: Version,
  { sick, unreachable }: VersionFindings,
  next: Next,
): VersionHealth | undefined {
  const { evictions, lastEvictionTime } = next.counted ?? recorded?.health ?? {}
  const record: VersionHealth = compact({
    failing: sick.length > 0 ? sick.length : undefined,
    unreachable: unreachable > 0 ? unreachable : undefined,
    evicting: next.evicting,
    evictions,
    lastEvictionTime,
  })
  return Object.keys(record).length > 0 ? record : undefined
}
