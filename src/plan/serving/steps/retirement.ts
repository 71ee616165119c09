/**
 * Retires a version that the spec no longer has.
 *
 * 1. Its traffic moves elsewhere. Every active provider must be observed to send it nothing.
 * 2. Record the time (`idleSince`) and start draining.
 * 3. After the drain period, delete it. Never the last ready version, unless the strategy of the rollout is `recreate`.
 */
import { millis, notBefore } from '../../time.ts'
import { availableOf, isReady, type Version } from '../observe/version.ts'
import { type ModelView, selectedVersion } from '../observe/view.ts'
import { mayRemoveLast } from '../rollout/strategy.ts'
import type { Routing } from './routing.ts'

export interface Retirement {
  /** This plan deletes it. */
  readonly isOver: boolean
  /** For the status: since when it gets no traffic. */
  readonly idleSince?: string
  readonly endsAt?: number
}

const STAYS: Retirement = { isOver: false }

/** The retirement of every version, by name. */
export function retire(view: ModelView, routing: Routing): ReadonlyMap<string, Retirement> {
  return new Map(view.versions.map((version) => [version.name, retirementOf(view, routing, version)]))
}

function retirementOf(view: ModelView, routing: Routing, version: Version): Retirement {
  if (version.wanted) return STAYS
  if (isRemovedFirst(view)) return { isOver: true }
  if (isUsed(view, routing, version) || isLastReady(view, version)) return STAYS
  // A version that cannot answer has no connections, and pods whose counts split the traffic drain one by one.
  if (!isReady(version) || routing.current.provider.splitPods) return { isOver: true }
  const { now, drainMs } = view
  const recorded = version.recorded?.idleSince
  const idleSince = recorded ?? notBefore(now)
  const endsAt = (millis(recorded) ?? Infinity) + drainMs
  if (now >= endsAt) return { isOver: true }
  return { isOver: false, idleSince, endsAt: Math.min(endsAt, (millis(idleSince) ?? now) + drainMs) }
}

/** The spec says to do without any version until the next is ready, and none is ready that stays. */
function isRemovedFirst({ travel, versions }: ModelView): boolean {
  return travel !== undefined && mayRemoveLast(travel) && !versions.some((other) => other.wanted && isReady(other))
}

/** A provider sends it requests, or may: unknown counts as traffic. */
function isUsed(view: ModelView, { current, active, reported }: Routing, { name }: Version): boolean {
  const isReported = !current.provider.splitPods && (reported.get(name) ?? 0) > 0
  if (selectedVersion(view) === name || isReported) return true
  return active.some((state) => {
    if (state.provider.splitPods) return state === current && !isReplaced(view)
    return state.inEffect === undefined || (state.inEffect.get(name) ?? 0) > 0
  })
}

/** The versions of the spec have all the pods that they should have. */
function isReplaced({ model, versions }: ModelView): boolean {
  const wanted = Math.max(...model.versions.map(({ scaling }) => scaling.minReplicas))
  const present = versions.filter((version) => version.wanted)
  const weighted = present.filter((version) => (version.wanted?.weight ?? 0) > 0)
  return weighted.every(isReady) && present.reduce((all, version) => all + availableOf(version), 0) >= wanted
}

/** Other versions that are being retired do not count: they may be deleted by the same plan. */
function isLastReady({ versions }: ModelView, version: Version): boolean {
  return isReady(version) && !versions.some((other) => other.wanted && isReady(other))
}
