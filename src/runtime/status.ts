/** How a status is written: only what changed, with the times of its conditions filled in. */
import { isDeepStrictEqual } from 'node:util'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  /** Filled in by `stamped`; planners leave it out. */
  readonly lastTransitionTime?: string
}

interface HasConditions {
  readonly conditions?: readonly Condition[]
}

/** The status with a `lastTransitionTime` on every condition: the old one while its status stays the same, else `now`. */
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

/** The status with this condition in place of any other of its type. */
export function withCondition<S>(status: S, condition: Condition): S {
  const others = (status as HasConditions).conditions?.filter(({ type }) => type !== condition.type) ?? []
  return { ...status, conditions: [...others, condition] }
}

/**
 * The merge patch that turns one plain JSON value into another, or undefined when there is nothing to change. Lists are
 * replaced whole; null and absent are the same, as the format has it.
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
