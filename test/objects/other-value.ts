/** Values for a field: other values than the present one, and minimal values for an absent field. */
import type { ResolvedSchema } from './openapi.ts'

export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

const words = ['other', '/other', 'other.example.com', 'example.com/other:1', '203.0.113.7', '10.0.0.0/24', 'IPv4']
const amounts = ['3', '3Gi', '64Mi', '100m']

/** Other values than this one, the most likely valid ones first. */
export function otherValues(value: unknown, schema: ResolvedSchema): unknown[] {
  const { enum: choices, format } = schema.node
  if (choices) return choices.filter((choice) => choice !== value)
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, value - 1, 1, 2, 5].filter((other) => other !== value && other >= 0)
  if (typeof value !== 'string') return []
  if (format === 'date-time') return ['2026-01-01T00:00:00Z']
  if (format === 'byte') return [Buffer.from('other').toString('base64')]
  const similar = [`${value}-x`, `${value}x`, `x${value}`]
  const near = isAmount(value) ? [...amounts, '40%'] : []
  return [...near, ...similar, ...words].filter((other) => other !== value)
}

const isAmount = (text: string): boolean => /^\d+(\.\d+)?([a-zA-Z]{0,2}|%)$/.test(text)

const DEEP = 5

/** Small valid values for a field that is absent. */
export function minimalValues(schema: ResolvedSchema, depth = 0): unknown[] {
  const { enum: choices, type = 'object', oneOf, format } = schema.node
  if (choices) return [...choices]
  if (oneOf) return format === 'int-or-string' ? [1, 'other'] : [...amounts]
  const scalars = smallScalars[format === 'date-time' ? format : type]
  if (scalars) return [...scalars]
  if (depth > DEEP) return []
  return type === 'array' ? minimalLists(schema, depth) : minimalObjects(schema, depth)
}

const smallScalars: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [true, false],
  integer: [1, 5, 100, 0],
  number: [1, 5, 100, 0],
  string: words,
  'date-time': ['2026-01-01T00:00:00Z'],
}

function minimalLists({ items }: ResolvedSchema, depth: number): unknown[] {
  const candidates = items ? minimalValues(items, depth + 1) : []
  return candidates.slice(0, 6).map((item) => [item])
}

/** Objects with the required fields, and with one optional field more. */
function minimalObjects(schema: ResolvedSchema, depth: number): object[] {
  const { required = [] } = schema.node
  const first = (below: ResolvedSchema): unknown => minimalValues(below, depth + 1)[0]
  const base = Object.fromEntries(
    schema.properties.filter(([name]) => required.includes(name)).map(([name, below]) => [name, first(below)]),
  )
  const optional = schema.properties.filter(([name]) => !required.includes(name)).slice(0, 8)
  const richer = optional.map(([name, below]) => ({ ...base, [name]: first(below) }))
  if (schema.values) return [{ 'example.com/added': first(schema.values) }, { added: first(schema.values) }]
  return required.length > 0 ? [base, ...richer] : [...richer, base]
}
