/** How a status is written: as a patch of what changed, with the transition times of its conditions. */
import { isDeepStrictEqual } from 'node:util'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  /** Set by `stamped`; planners omit it. */
  readonly lastTransitionTime?: string
}

interface HasConditions {
  readonly conditions?: readonly Condition[]
}

/** Sets `lastTransitionTime` of every condition: the old time if its status has not changed, else `now`. */
export function stamped<S>(status: S, previous: unknown, now: string): S {
  const { conditions } = status as HasConditions
  if (!Array.isArray(conditions)) return status
  const before = new Map(((previous ?? {}) as HasConditions).conditions?.map((known) => [known.type, known]))
  const stamp = (condition: Condition): Condition => {
    const known = before.get(condition.type)
    const since = known?.status === condition.status ? known.lastTransitionTime : undefined
    return { ...condition, lastTransitionTime: condition.lastTransitionTime ?? since ?? now }
  }
  return { ...status, conditions: conditions.map(stamp) }
}

/**
 * The merge patch from one plain JSON value to another, or undefined if nothing changes. Lists are replaced as a whole.
 * Null and absent are equal, as in the format.
 */
export function mergePatch(from: unknown, to: unknown): unknown {
  if (isDeepStrictEqual(from, to)) return undefined
  if (!isRecord(from) || !isRecord(to)) return to ?? undefined
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(from)) if (isPresent(from[key]) && !isPresent(to[key])) patch[key] = null
  for (const [key, value] of Object.entries(to)) {
    const change = mergePatch(from[key], value)
    if (change !== undefined) patch[key] = change
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
