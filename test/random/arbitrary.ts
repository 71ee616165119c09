/** fast-check arbitraries for the values of a schema, with and without optional fields. */

import * as fc from 'fast-check'
import type { JsonSchema } from '../../src/api/structural.ts'

export function arbitraryOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(fc.nat(), textOf(schema))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const generator = byType[schema.type ?? 'number or string']
  if (generator === undefined) throw new Error(`no values of type ${schema.type}`)
  return generator(schema)
}

const byType: Readonly<Record<string, (schema: JsonSchema) => fc.Arbitrary<unknown>>> = {
  object: (schema) => (schema.additionalProperties ? mapOf(schema.additionalProperties) : objectOf(schema)),
  array: listOf,
  boolean: () => fc.boolean(),
  integer: ({ minimum = 0, maximum = 2 ** 31 - 1 }) => fc.integer({ min: minimum, max: maximum }),
  number: ({ minimum = -1e9, maximum = 1e9 }) => numberOf(minimum, maximum),
  string: textOf,
  'number or string': (schema) => fc.oneof(numberOf(-1e9, 1e9), textOf(schema)),
}

/** Adding zero turns a negative zero, which JSON does not have, into zero. */
const numberOf = (min: number, max: number): fc.Arbitrary<number> =>
  fc.double({ min, max, noNaN: true }).map((value) => value + 0)

function textOf({ format, pattern, minLength = 0, maxLength = 20 }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString())
  const fitting = (text: string): boolean => text.length >= minLength && text.length <= maxLength
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: 'small' }).filter(fitting)
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20) })
}

function objectOf(schema: JsonSchema): fc.Arbitrary<object> {
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, arbitraryOf(property)]),
  )
  const known = fc.record(properties, { requiredKeys: [...(schema.required ?? [])] })
  if (!schema['x-kubernetes-preserve-unknown-fields']) return known.map((value) => ({ ...value }))
  const unknown = fc.dictionary(fc.stringMatching(/^x[a-z]{0,5}$/), json, { maxKeys: 3 })
  return fc.tuple(unknown, known).map(([more, named]) => ({ ...more, ...named }))
}

const json = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)))

function mapOf(value: JsonSchema): fc.Arbitrary<object> {
  const key = fc.constantFrom('cpu', 'memory', 'nvidia.com/gpu', 'loss', 'accuracy', 'a~b')
  return fc.dictionary(key, arbitraryOf(value), { maxKeys: 3 }).map((entries) => ({ ...entries }))
}

function listOf(schema: JsonSchema): fc.Arbitrary<unknown[]> {
  const lengths = {
    minLength: schema.minItems ?? 0,
    maxLength: Math.min(Math.max(schema.minItems ?? 0, 3), schema.maxItems ?? 3),
  }
  const [key] = schema['x-kubernetes-list-map-keys'] ?? []
  const item = arbitraryOf(schema.items ?? {})
  if (key === undefined) return fc.array(item, lengths)
  return fc.uniqueArray(item, { ...lengths, selector: (entry) => (entry as Record<string, unknown>)[key] }) // eslint-disable-line typescript/no-unsafe-type-assertion -- keyed lists hold objects
}
