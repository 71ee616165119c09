/** Valid values of a schema at its limits. */
import type { JsonSchema } from '../../src/api/structural.ts'
import { between, pick, type Random } from '../random/seeded.ts'
import { edgeText } from './edge-text.ts'

export interface ValueOptions {
  readonly random: Random
  /** The probability of an optional field. */
  readonly density: number
  /** The maximum number of entries of a list or map, besides the schema's. */
  readonly most: number
}

const INT32 = 2 ** 31 - 1

export function edgeValue(schema: JsonSchema, options: ValueOptions): unknown {
  const { random } = options
  if (schema['x-kubernetes-int-or-string'])
    return random() < 0.4 ? edgeInteger(schema, random) : edgeText(schema, random)
  if (schema.type === undefined) return random() < 0.5 ? edgeText(schema, random) : pick(random, notText)
  const make = makers[schema.type]
  if (make === undefined) throw new Error(`no values of type ${schema.type}`)
  return make(schema, options)
}

const makers: Readonly<Record<string, (schema: JsonSchema, options: ValueOptions) => unknown>> = {
  object: (schema, options) =>
    schema.additionalProperties ? edgeMap(schema, schema.additionalProperties, options) : edgeObject(schema, options),
  array: edgeList,
  boolean: (_, { random }) => random() < 0.5,
  integer: (schema, { random }) => edgeInteger(schema, random),
  number: ({ minimum = -1e308, maximum = 1e308 }, { random }) =>
    pick(random, [minimum, maximum, (minimum + maximum) / 2]),
  string: (schema, { random }) => edgeText(schema, random),
}

/** JavaScript rounds numbers beyond 2^53; the largest is sent unrounded. */
const LARGEST = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9223372036854775807')

function edgeInteger({ minimum, maximum, format }: JsonSchema, random: Random): unknown {
  const least = minimum ?? (format === undefined ? -1 : 0)
  const most = maximum ?? INT32
  const small = between(random, least, Math.min(most, least + 4))
  if (maximum === undefined && format === 'int64' && random() < 0.1) return LARGEST
  return pick(random, [least, most, small, small, small, Math.min(most, least + 1), Math.max(least, most - 1)])
}

function edgeObject(schema: JsonSchema, options: ValueOptions): object {
  const { random, density } = options
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([name]) => schema.required?.includes(name) || random() < density,
  )
  const known = wanted.map(([name, property]): [string, unknown] => [name, edgeValue(property, options)])
  const unknown = schema['x-kubernetes-preserve-unknown-fields'] ? entries(options, () => anyJson(options, 3)) : []
  return Object.fromEntries([...unknown, ...known])
}

const keys: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'cpu',
  'memory',
  'nvidia.com/gpu',
  'example.com/' + 'k'.repeat(63),
  'a.b/c_d',
  'A',
  '0',
]

function edgeMap(schema: JsonSchema, value: JsonSchema, options: ValueOptions): object {
  const most = Math.min(schema.maxProperties ?? options.most, options.most)
  return Object.fromEntries(entries({ ...options, most }, () => edgeValue(value, options)))
}

function entries({ random, most }: ValueOptions, value: () => unknown): [string, unknown][] {
  const count = sizeOf(random, 0, most)
  return Array.from({ length: count }, (_, index) => [index < 3 ? pick(random, keys) : `key-${index}`, value()])
}

/** Empty, one, a few or full. */
function sizeOf(random: Random, least: number, most: number): number {
  return pick(random, [least, Math.max(least, 1), Math.min(most, least + 2), random() < 0.2 ? most : least])
}

function edgeList(schema: JsonSchema, options: ValueOptions): unknown[] {
  const least = schema.minItems ?? 0
  const count = sizeOf(options.random, least, Math.max(least, Math.min(schema.maxItems ?? options.most, options.most)))
  const { items = {} } = schema
  const list = Array.from({ length: count }, () => edgeValue(items, options))
  return schema['x-kubernetes-list-type'] === 'map' ? distinct(list, schema['x-kubernetes-list-map-keys'] ?? []) : list
}

function distinct(list: readonly unknown[], names: readonly string[]): unknown[] {
  const identity = (item: unknown): string =>
    JSON.stringify(names.map((name) => (item as Record<string, unknown>)[name]))
  return [...new Map(list.map((item) => [identity(item), item])).values()]
}

/** For schemas that restrict only strings. */
const notText: readonly unknown[] = [0, -1, 1e308, 5e-324, true, [], [[1]], {}, { a: [] }]

/** For schemas without restrictions. */
function anyJson(options: ValueOptions, depth: number): unknown {
  const { random } = options
  const scalars = [null, true, false, 0, -1, 1e308, 5e-324, '', 'x', '__proto__', '\u{1F600}', '$(X)']
  if (depth === 0 || random() < 0.6) return pick(random, scalars)
  const inside = (): unknown => anyJson(options, depth - 1)
  if (random() < 0.1) return nested(200)
  return random() < 0.5
    ? Array.from({ length: between(random, 0, 4) }, inside)
    : Object.fromEntries(entries(options, inside))
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
