/**
 * How many pods a load needs, and how fast their number may change: the algorithm and the defaults of the
 * HorizontalPodAutoscaler.
 *
 * - The number is the load divided by its target for one pod, rounded up. With several loads the highest number counts.
 * - While the load differs from its target by at most a tenth, the number stays.
 * - A version grows at once, but within 15 seconds by at most four pods or to twice its size, whichever is more.
 * - It shrinks to the highest number that was needed within the last five minutes.
 */
import { MAX_SCALING_ENTRIES, type VersionAutoscaling } from '../../../api/autoscaling-status.ts'
import { millis, notBefore } from '../../time.ts'

/** A load over all pods, and its target for one of them. */
export interface Load {
  readonly total: number
  readonly target: number
}

export interface Bounds {
  readonly minReplicas: number
  readonly maxReplicas: number
}

const TOLERANCE = 0.1
/** Counters and clocks are not exact: without rounding, a load of exactly three pods would need four. */
const PRECISION = 1_000

const GROWTH_MS = 15_000
const GROWTH_PODS = 4
const GROWTH_FACTOR = 2
const STABILIZATION_MS = 300_000

/** The number of pods for these loads, without limits. */
export function neededPods(current: number, loads: readonly Load[]): number {
  return Math.max(0, ...loads.map((load) => podsFor(current, load)))
}

function podsFor(current: number, { total, target }: Load): number {
  const pods = Math.round((total / target) * PRECISION) / PRECISION
  const difference = Math.round(Math.abs(pods - current) * PRECISION) / PRECISION
  return current > 0 && difference <= TOLERANCE * current ? current : Math.ceil(pods)
}

export const bounded = (replicas: number, { minReplicas, maxReplicas }: Bounds): number =>
  Math.min(maxReplicas, Math.max(minReplicas, replicas))

export interface Demand extends Bounds {
  readonly now: number
  /** Absent: the load is unknown, and the number stays. */
  readonly loads?: readonly Load[]
  /** Everything that carries requests has reported. Otherwise the load may be higher, and no pod is removed. */
  readonly isComplete: boolean
}

/** The next record, from the last one. It equals the last one if nothing changes. */
export function nextRecord(recorded: VersionAutoscaling, demand: Demand): VersionAutoscaling {
  const { now, loads, isComplete } = demand
  const current = bounded(recorded.replicas, demand)
  if (!loads) return changed(recorded, current, now)
  const needed = bounded(neededPods(current, loads), demand)
  const wanted = isComplete ? needed : Math.max(needed, current)
  const lower = lowerNumbers(recorded.lower, { current, wanted, now })
  const replicas =
    wanted > current ? Math.min(wanted, growthLimit(recorded, current, now)) : stabilized(lower, current, now)
  const { lower: _before, ...rest } = changed(recorded, replicas, now)
  const left = lower.filter((step) => step.replicas < replicas)
  return { ...rest, ...(left.length > 0 && { lower: left }) }
}

function changed(recorded: VersionAutoscaling, replicas: number, now: number): VersionAutoscaling {
  const pods = replicas - recorded.replicas
  if (pods === 0) return recorded
  const recent = recentChanges(recorded, now)
  return { ...recorded, replicas, changes: [...recent, { time: notBefore(now), pods }].slice(-MAX_SCALING_ENTRIES) }
}

const recentChanges = ({ changes = [] }: VersionAutoscaling, now: number) =>
  changes.filter(({ time }) => (millis(time) ?? 0) > now - GROWTH_MS)

function growthLimit(recorded: VersionAutoscaling, current: number, now: number): number {
  const atStart = current - recentChanges(recorded, now).reduce((sum, { pods }) => sum + pods, 0)
  return Math.max(current, atStart + GROWTH_PODS, atStart * GROWTH_FACTOR)
}

type Lower = NonNullable<VersionAutoscaling['lower']>

interface Wish {
  readonly current: number
  readonly wanted: number
  readonly now: number
}

/**
 * From which time on which number was the highest that was needed, as far as it is below the current one. Numbers decrease
 * with time. A load that stays changes nothing, so a model at rest is not written.
 */
function lowerNumbers(before: Lower = [], { current, wanted, now }: Wish): Lower {
  if (wanted >= current) return []
  const higher = before.filter(({ replicas }) => replicas > wanted)
  const since = before.find(({ replicas }) => replicas <= wanted)?.since ?? notBefore(now)
  const steps = [...higher, { since, replicas: wanted }]
  // Without one of them, the version shrinks later.
  return steps.length > MAX_SCALING_ENTRIES ? steps.toSpliced(-2, 1) : steps
}

function stabilized(lower: Lower, current: number, now: number): number {
  const steady = lower.findLast(({ since }) => (millis(since) ?? Infinity) <= now - STABILIZATION_MS)
  return steady?.replicas ?? current
}
