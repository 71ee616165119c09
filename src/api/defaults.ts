/**
 * Applies defaults as the API server does, for objects that it has not seen: in conversion and in tests. A missing field
 * gets a copy of its default. Existing objects and lists are defaulted recursively.
 */

import type { TSchema } from 'typebox'
import { isJsonObject } from './json.ts'
import { type JsonSchema, plain } from './structural.ts'

const schemas = new WeakMap<TSchema, JsonSchema>()

/** Returns `value` with the defaults of `schema`. Does not modify `value`. */
export function withDefaults<T>(schema: TSchema, value: T): T {
  const known = schemas.get(schema) ?? plain(schema)
  schemas.set(schema, known)
  return fill(known, value) as T // eslint-disable-line typescript/no-unsafe-type-assertion -- filling adds fields that T already has
}

function fill(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => fill(schema.items ?? {}, item)) : value
  if (!isJsonObject(value)) return value
  const filled: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const present = filled[name] ?? structuredClone(property.default)
    if (present !== undefined) filled[name] = fill(property, present)
  }
  return filled
}
