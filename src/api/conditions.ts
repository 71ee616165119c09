/** Conditions of our kinds, with the fields of Kubernetes' own `metav1.Condition`. */

import { dateTime, type Infer, int64, listMap, object, optional, strEnum, text } from './schema.ts'

const conditionSchema = object(
  {
    type: text({ description: 'Type of the condition in CamelCase.', maxLength: 316, examples: ['Ready'] }),
    status: strEnum(['True', 'False', 'Unknown'], { description: 'Status of the condition.' }),
    observedGeneration: optional(
      int64({ description: 'Generation of the spec that the condition is based on.', minimum: 0 }),
    ),
    lastTransitionTime: dateTime({ description: 'Time of the last change of the status.' }),
    reason: text({
      description: 'Reason for the status in CamelCase.',
      maxLength: 1024,
      pattern: '^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$',
      examples: ['WorkersReady'],
    }),
    message: text({
      description: 'Human-readable explanation, with the next step.',
      maxLength: 32768,
      examples: ['4 of 4 workers are running'],
    }),
  },
  { description: 'A condition.' },
)

export const conditionsSchema = listMap(conditionSchema, ['type'], {
  description: 'Conditions of the object, for example for `kubectl wait --for=condition=…`.',
  maxItems: 32,
})

export type Condition = Infer<typeof conditionSchema>

/** A condition without its transition time, which depends on the previous status of the condition. */
export type Verdict = Omit<Condition, 'lastTransitionTime'>

export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True'
}
