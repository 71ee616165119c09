/**
 * How many pods each version gets. Where an autoscaler exists it sets the number, otherwise we do. Omitting a number that
 * only we have set would reset it to one, so it is kept until an autoscaler has set another.
 */
import { bounded } from '../autoscaling/recommendation.ts'
import { type RequestScaling, requestScaling, scalesByRequests } from '../autoscaling/scaler.ts'
import { REPLICAS_ANNOTATION } from '../objects/deployment.ts'
import { isAutoscaled, type VersionScaling } from '../observe/served-model.ts'
import { availableOf, replicasOf, type Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from './routing.ts'

export interface Size {
  /** `spec.replicas` of the Deployment. Absent where an autoscaler sets it. */
  readonly replicas?: number
  /** The fewest pods that it should have. */
  readonly floor: number
  /** A HorizontalPodAutoscaler sets the number. */
  readonly isAutoscaled: boolean
  /** The operator sets it by the requests of the version. */
  readonly byRequests?: RequestScaling
}

const NONE: Size = { floor: 0, isAutoscaled: false }

/** The size of every version, by name. */
export function scale(view: ModelView, routing: Routing): ReadonlyMap<string, Size> {
  const counts = podCounts(view, routing)
  return new Map(
    view.versions.map((version) => [version.name, sizeOf(view, routing, version, counts?.get(version.name))]),
  )
}

function sizeOf(view: ModelView, routing: Routing, version: Version, count: number | undefined): Size {
  const scaling = version.wanted?.scaling
  if (!scaling) return NONE
  if (count !== undefined) return { replicas: count, floor: count, isAutoscaled: false }
  if (scalesByRequests(view, routing, version)) return sizeByRequests(view, version, scaling)
  const replicas = replicasToSet(version, scaling)
  return {
    ...(replicas !== undefined && { replicas }),
    floor: scaling.minReplicas,
    isAutoscaled: isAutoscaled(scaling),
  }
}

/** The number on record. This plan records the next one. */
function sizeByRequests(view: ModelView, version: Version, scaling: VersionScaling): Size {
  const byRequests = requestScaling(view, version, scaling)
  const decided = byRequests.record && version.recorded?.autoscaling?.replicas
  const replicas = decided === undefined ? replicasToSet(version, scaling) : bounded(decided, scaling)
  return {
    ...(replicas !== undefined && { replicas }),
    floor: scaling.minReplicas,
    isAutoscaled: false,
    byRequests,
  }
}

/**
 * Undefined if an autoscaler sets the number. We set the first one, so that a single pod need not wait for the
 * autoscaler's first look, and keep it until an autoscaler has set another: from then on the field is the autoscaler's.
 */
function replicasToSet({ deployment }: Version, scaling: VersionScaling): number | undefined {
  if (!isAutoscaled(scaling) || !deployment) return scaling.minReplicas
  const ours = deployment.metadata.annotations?.[REPLICAS_ANNOTATION]
  if (ours === undefined || Number(ours) !== deployment.spec?.replicas) return undefined
  return Math.max(Number(ours), scaling.minReplicas)
}

/** Pod counts, where they split the traffic or are about to. */
function podCounts(view: ModelView, { current, active }: Routing): ReadonlyMap<string, number> | undefined {
  const byPods = active.find(({ provider }) => provider.splitPods)?.provider
  if (!byPods?.splitPods) return undefined
  const { provider, previous } = view.recorded.traffic ?? {}
  const isCurrent = current.provider === byPods
  const isComing = !isCurrent && previous !== byPods.name
  if (!isCurrent && !isComing) return undefined
  const weights = view.wantedWeights
  const total = Math.max(...view.model.versions.map(({ scaling }) => scaling.minReplicas))
  return stepTowards(byPods.splitPods(weights, total), view.versions, isCurrent && provider === byPods.name)
}

/**
 * A version that grows does so at once. One that shrinks does so only as far as more pods are available than wanted in
 * all, so that no capacity is lost. `isCarrying`: the counts split the traffic already; before that no version shrinks.
 */
function stepTowards(
  wanted: ReadonlyMap<string, number>,
  versions: readonly Version[],
  isCarrying: boolean,
): ReadonlyMap<string, number> {
  const available = versions.reduce((all, version) => all + availableOf(version), 0)
  let spare = isCarrying ? Math.max(0, available - [...wanted.values()].reduce((all, count) => all + count, 0)) : 0
  const counts = new Map<string, number>()
  for (const version of versions.filter((one) => one.wanted)) {
    const target = wanted.get(version.name) ?? 0
    const present = replicasOf(version)
    const idle = isCarrying ? Math.max(0, present - availableOf(version)) : 0
    const loss = Math.min(Math.max(0, present - target), idle + spare)
    spare -= Math.max(0, loss - idle)
    counts.set(version.name, Math.max(target, present - loss))
  }
  return counts
}
