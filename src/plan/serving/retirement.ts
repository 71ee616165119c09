/**
 * The end of a version that the spec no longer has. First its traffic goes elsewhere, which must be seen on every way;
 * then that is written down; and when requests under way have had time to end, it goes. Never the last that is ready.
 */
import { millis, notBefore } from '../time.ts'
import type { Routing } from './routing.ts'
import type { Scene } from './scene.ts'
import { availableOf, isReady, type Version } from './version.ts'
import { serviceOf } from './way.ts'
import { VERSION_LABEL } from '../model-names.ts'

export interface Retirement {
  /** It goes with this plan. */
  readonly isOver: boolean
  /** For the status: since when it gets nothing. */
  readonly idleSince?: string
  readonly endsAt?: number
}

const STAYS: Retirement = { isOver: false }

export function retirementOf(scene: Scene, routing: Routing, version: Version): Retirement {
  if (version.wanted || isUsed(scene, routing, version) || isLastReady(scene, version)) return STAYS
  // Nobody is connected to what cannot answer, and pods that divide traffic by their number drain one by one.
  if (!isReady(version) || routing.way.name === 'replicas') return { isOver: true }
  const idleSince = version.known?.idleSince ?? notBefore(scene.now)
  const endsAt = (millis(version.known?.idleSince) ?? Infinity) + scene.drainMs
  if (scene.now >= endsAt) return { isOver: true }
  return { isOver: false, idleSince, endsAt: Math.min(endsAt, (millis(idleSince) ?? scene.now) + scene.drainMs) }
}

/** Some way sends it requests, or may: what is not known counts as traffic. */
function isUsed(scene: Scene, routing: Routing, { name }: Version): boolean {
  const selected = serviceOf(scene)?.spec?.selector?.[VERSION_LABEL]
  const isTold = routing.way.name !== 'replicas' && (routing.told.get(name) ?? 0) > 0
  if (selected === name || isTold) return true
  return routing.ways.some((way) => {
    if (way.name === 'direct') return false
    if (way.name === 'replicas') return way === routing.way && !isReplaced(scene)
    return way.inEffect === undefined || (way.inEffect.get(name) ?? 0) > 0
  })
}

/** Versions of the spec have all the pods that they should have. */
function isReplaced({ model, versions }: Scene): boolean {
  const wanted = Math.max(...model.versions.map(({ scaling }) => scaling.minReplicas))
  const there = versions.filter((version) => version.wanted)
  const weighted = there.filter((version) => (version.wanted?.weight ?? 0) > 0)
  return weighted.every(isReady) && there.reduce((all, version) => all + availableOf(version), 0) >= wanted
}

/** Others that are leaving do not count: they may go in the same moment. */
function isLastReady({ versions }: Scene, version: Version): boolean {
  return isReady(version) && !versions.some((other) => other.wanted && isReady(other))
}
