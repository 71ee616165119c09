/** Every leaf of a schema, by the path of its field: `versions[].env[].value`, `scheduling.nodeSelector{}`. */
import type { JsonSchema } from '../../src/api/structural.ts'

export interface Leaf {
  readonly path: string
  readonly schema: JsonSchema
}

export function leavesOf(schema: JsonSchema, path = ''): Leaf[] {
  const { properties, items, additionalProperties } = schema
  if (items) return leavesOf(items, `${path}[]`)
  if (additionalProperties) return leavesOf(additionalProperties, `${path}{}`)
  const below = Object.entries(properties ?? {}).flatMap(([name, property]) =>
    leavesOf(property, path === '' ? name : `${path}.${name}`),
  )
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true && schema.type === 'object'
  const open: Leaf[] = isOpen ? [{ path: `${path}{}`, schema: {} }] : []
  if (properties) return [...below, ...open]
  return [{ path, schema }]
}

/** A place in a live spec. */
export interface Place {
  /** As of the leaf. */
  readonly path: string
  readonly steps: readonly (string | number)[]
  readonly value: unknown
  readonly schema: JsonSchema
}

/** The first place of every leaf that a spec has. */
export function placesOf(schema: JsonSchema, spec: unknown): Place[] {
  return everyPlace(schema, spec).filter(({ value }) => !isContainer(value))
}

/** The first place of every object, list and map below a spec. */
export function containersOf(schema: JsonSchema, spec: unknown): Place[] {
  return everyPlace(schema, spec).filter(({ value, path }) => isContainer(value) && path !== '')
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

function everyPlace(schema: JsonSchema, spec: unknown): Place[] {
  const found = new Map<string, Place>()
  const visit = (place: Place): void => void (found.has(place.path) || found.set(place.path, place))
  walk(schema, spec, { path: '', steps: [] }, visit)
  return [...found.values()]
}

interface Position {
  readonly path: string
  readonly steps: readonly (string | number)[]
}

function walk(schema: JsonSchema, value: unknown, at: Position, visit: (place: Place) => void): void {
  const { properties, items, additionalProperties } = schema
  if (value === undefined) return
  visit({ ...at, value, schema })
  if (Array.isArray(value) && items)
    return value.forEach((item, index) => walk(items, item, below(at, '[]', index), visit))
  if (!isRecord(value)) return
  for (const [name, member] of Object.entries(value)) {
    const property = properties?.[name]
    if (property) walk(property, member, below(at, at.path === '' ? name : `.${name}`, name), visit)
    else if (additionalProperties) walk(additionalProperties, member, below(at, '{}', name), visit)
    else visit({ ...below(at, '{}', name), value: member, schema: {} })
  }
}

const below = ({ path, steps }: Position, suffix: string, step: string | number): Position => ({
  path: `${path}${suffix}`,
  steps: [...steps, step],
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
