/** The load of a version, as the proxies of its traffic provider report it. */
import { isPodReady } from '../../pod-ready.ts'
import type { VersionScaling } from '../observe/served-model.ts'
import type { Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { Load } from './recommendation.ts'

export interface VersionLoad {
  /** Absent: unknown. */
  readonly loads?: readonly Load[]
  readonly isComplete: boolean
  /** Why it is unknown, if that does not end by itself. */
  readonly problem?: string
}

export const hasRequestTarget = (scaling: VersionScaling): boolean =>
  scaling.targetRequestsPerSecond !== undefined || countsOpen(scaling)

const countsOpen = ({ targetConcurrency, targetQueueDepth }: VersionScaling): boolean =>
  targetConcurrency !== undefined || targetQueueDepth !== undefined

export function loadOf({ observed }: ModelView, { name }: Version, scaling: VersionScaling): VersionLoad {
  const { traffic, rates } = observed
  const ready = traffic.proxies.flatMap(({ pods }) => pods).filter(isPodReady)
  if (traffic.reports.size === 0)
    return { isComplete: false, problem: 'no proxy of the traffic provider reports its requests' }
  const own = rates?.get(name)
  if (!own) return { isComplete: false }
  const { requestsPerSecond, concurrency, proxies = 0 } = own
  if (countsOpen(scaling) && concurrency === undefined)
    return { isComplete: false, problem: 'the proxies of the traffic provider do not report requests in progress' }
  return { loads: loadsOf(scaling, requestsPerSecond, concurrency ?? 0), isComplete: proxies >= ready.length }
}

/** A pod answers one request, and the others are queued: so many are in progress with a queue of the target depth. */
function loadsOf(scaling: VersionScaling, requestsPerSecond: number, concurrency: number): Load[] {
  const { targetRequestsPerSecond, targetConcurrency, targetQueueDepth } = scaling
  return [
    ...(targetRequestsPerSecond === undefined ? [] : [{ total: requestsPerSecond, target: targetRequestsPerSecond }]),
    ...(targetConcurrency === undefined ? [] : [{ total: concurrency, target: targetConcurrency }]),
    ...(targetQueueDepth === undefined ? [] : [{ total: concurrency, target: targetQueueDepth + 1 }]),
  ]
}
