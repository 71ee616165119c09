/**
 * Conditions: what is true of an object, why, and since when. All are positive, so that `kubectl wait --for=condition=…`
 * waits for the good news. The functions here are pure; the time of a transition is passed in.
 */

import { dateTime, type Infer, int64, listMap, object, optional, strEnum, text } from './schema.ts'

const conditionSchema = object(
  {
    type: text({ description: 'What this condition is about, in CamelCase.', maxLength: 316, examples: ['Ready'] }),
    status: strEnum(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    observedGeneration: optional(
      int64({ description: 'The generation of the spec that this was judged on.', minimum: 0 }),
    ),
    lastTransitionTime: dateTime({ description: 'When the status last changed.' }),
    reason: text({
      description: 'Why, as one CamelCase word for programs.',
      maxLength: 1024,
      pattern: '^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$',
      examples: ['WorkersReady'],
    }),
    message: text({
      description: 'Why, for people, and what to do next.',
      maxLength: 32768,
      examples: ['4 of 4 workers run'],
    }),
  },
  { description: 'One fact about the object.' },
)

export const conditionsSchema = listMap(conditionSchema, ['type'], {
  description: 'What is true of this object, why, and since when. Usable with `kubectl wait --for=condition=…`.',
  maxItems: 32,
})

export type Condition = Infer<typeof conditionSchema>

/** A condition before it has been compared with what was there: it has no transition time yet. */
export type Verdict = Omit<Condition, 'lastTransitionTime'>

export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True'
}

/**
 * The conditions with one of them set. `now` (RFC 3339) becomes the transition time only when the status changes, so
 * that repeating a verdict changes nothing: the very same array comes back, and no write follows.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  verdict: Verdict,
  now: string,
): readonly Condition[] {
  const before = getCondition(conditions, verdict.type)
  if (before === undefined) return [...(conditions ?? []), { ...verdict, lastTransitionTime: now }]
  const lastTransitionTime = before.status === verdict.status ? before.lastTransitionTime : now
  const after: Condition = { ...verdict, lastTransitionTime }
  return sameCondition(before, after) ? (conditions ?? []) : (conditions ?? []).map((c) => (c === before ? after : c))
}

/** The conditions without one that no longer says anything. */
export function removeCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const before = conditions ?? []
  return getCondition(before, type) === undefined ? before : before.filter((condition) => condition.type !== type)
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  )
}
