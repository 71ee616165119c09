/**
 * Converts declarations to the structural schemas that the API server accepts: without TypeBox's own properties, without
 * examples, and without fields with a default in `required`.
 */

import type { TSchema } from 'typebox'

/** A JSON schema as plain data. */
export interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly examples?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[]
  readonly 'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
}

/** Converts a declaration to plain JSON schema, with `required` corrected. */
export function plain(schema: TSchema): JsonSchema {
  const data = JSON.parse(JSON.stringify(schema)) as JsonSchema // eslint-disable-line typescript/no-unsafe-type-assertion -- a TypeBox schema is JSON schema by construction
  return mapSchema(data, (node) => withWholeDefault(withoutDefaultedInRequired(node)))
}

/** Converts a declaration to the schema for a CustomResourceDefinition. */
export function structural(schema: TSchema): JsonSchema {
  return mapSchema(plain(schema), (node) => {
    const { examples, ...rest } = node
    return examples === undefined ? node : rest
  })
}

/** Applies `change` to every node of a schema, children first. */
export function mapSchema(schema: JsonSchema, change: (node: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, (child) => mapSchema(child, change)) }),
    ...(items && { items: mapSchema(items, change) }),
    ...(additionalProperties && { additionalProperties: mapSchema(additionalProperties, change) }),
  })
}

/** The API server applies defaults before it checks required fields, so users need not set fields with a default. */
function withoutDefaultedInRequired(node: JsonSchema): JsonSchema {
  const { required, ...rest } = node
  const demanded = required?.filter((name) => node.properties?.[name]?.default === undefined) ?? []
  return demanded.length === 0 ? rest : { ...rest, required: demanded }
}

/** Expands `default: {}` to the defaults of its fields, because the API server validates rules against the literal default. */
function withWholeDefault(node: JsonSchema): JsonSchema {
  if (node.default === undefined || node.properties === undefined) return node
  const inside = Object.entries(node.properties).filter(([, { default: value }]) => value !== undefined)
  return { ...node, default: Object.fromEntries(inside.map(([name, { default: value }]) => [name, value])) }
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
