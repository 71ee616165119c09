/** The operations on a live spec: each leaf changed to values that its schema allows, and removed. */
import type { JsonSchema } from '../../src/api/structural.ts'
import { fitsText, longest } from './edge-text.ts'
import { pathOf } from './hand-edits.ts'
import { containersOf, type Place, placesOf } from './leaves.ts'
import type { JsonPatchOperation } from './other-value.ts'

export interface Transition {
  /** Of the leaf, as in `leavesOf`. */
  readonly leaf: string
  readonly what: string
  /** Below `/spec`. */
  readonly operation: JsonPatchOperation
}

export function transitionsOf(schema: JsonSchema, spec: object): Transition[] {
  const changes = placesOf(schema, spec).flatMap((place) => valuesFor(place).map((value) => changed(place, value)))
  const containers = containersOf(schema, spec)
  const emptied = containers.filter(({ value }) => Array.isArray(value)).map((place) => changed(place, []))
  const removals = [...placesOf(schema, spec), ...containers].map(removed)
  return [...changes, ...emptied, ...removals]
}

function changed(place: Place, value: unknown): Transition {
  const what = `${pathOf(place.steps)}: ${brief(place.value)} → ${brief(value)}`
  return { leaf: place.path, what, operation: { op: 'replace', path: pointerTo(place), value } }
}

function removed(place: Place): Transition {
  return {
    leaf: place.path,
    what: `${pathOf(place.steps)} removed`,
    operation: { op: 'remove', path: pointerTo(place) },
  }
}

const pointerTo = ({ steps }: Place): string =>
  `/spec${steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}`

const brief = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

/** More pods would not show more. */
const MOST_PODS = 4
const COUNTS = /(replicas|workers)$/i

function valuesFor({ path, value, schema }: Place): unknown[] {
  const others = schema.enum ?? (typeof value === 'boolean' ? [!value] : undefined)
  if (others) return others.filter((other) => other !== value)
  const candidates = typeof value === 'number' ? numbersFor(path, value, schema) : textsFor(value, schema)
  return [...new Set(candidates)].filter((other) => other !== value)
}

function numbersFor(path: string, value: number, schema: JsonSchema): number[] {
  const most = COUNTS.test(path) ? MOST_PODS : (schema.maximum ?? 2 ** 31 - 1)
  const least = schema.minimum ?? 0
  return [value + 1, value - 1, least, most].filter((other) => other >= least && other <= most)
}

const QUANTITY = /^\d+(\.\d+)?([a-zA-Z]{0,2})$/

/** Another text, the longest, an odd one; for quantities more, less, and the same value in another form. */
function textsFor(value: unknown, schema: JsonSchema): unknown[] {
  if (typeof value !== 'string') return [{ a: [1] }, 'x', 3, null]
  const amounts = QUANTITY.test(value) ? ['7', '1500m', '3Gi', `${value}.0`] : []
  const words = ['other', `${value}-x`, `${value}x`, `x${value}`, '/other', '$(RANK)', 'é', longest(schema, value)]
  return [...amounts, ...words].filter((text) => text !== '' && fitsText(schema, text))
}
