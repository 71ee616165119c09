/** Invalid variants of a complete manifest, one for each limit of each field. */
import { type JsonSchema, plain } from '../../src/api/structural.ts'
import type { Complete } from './manifests.ts'

/** An invalid spec, and the field that the rejection must name. */
export interface Flaw {
  readonly name: string
  readonly spec: unknown
  readonly field: string
}

/** Every spec that violates one limit of the schema, at every field of the manifest. */
export function flaws({ version, manifest }: Complete): Flaw[] {
  return flawsAt('spec', plain(version.spec), manifest.spec, (spec) => spec)
}

type Put = (value: unknown) => unknown

function flawsAt(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  const field = lastName(path)
  const own = invalidValues(schema, value).map(([what, wrong]) => ({
    name: `${path}: ${what}`,
    spec: put(wrong),
    field,
  }))
  return [...own, ...missing(path, schema, value, put), ...below(path, schema, value, put)]
}

/** Skips fields that the manifest omits, because only one of several sources may be set. */
function below(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  if (value === undefined) return []
  if (Array.isArray(value)) {
    const [first, ...others] = value
    return schema.items ? flawsAt(`${path}[0]`, schema.items, first, (entry) => put([entry, ...others])) : []
  }
  const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const inside = (value as Record<string, unknown>)[name]
    return flawsAt(`${path}.${name}`, child, inside, (part) => put({ ...(value as object), [name]: part }))
  })
  if (!schema.additionalProperties) return children
  const [key = 'key', entry] = Object.entries(value as object)[0] ?? []
  return flawsAt(`${path}.${key}`, schema.additionalProperties, entry, (part) =>
    put({ ...(value as object), [key]: part }),
  )
}

function missing(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  if (value === undefined) return []
  return (schema.required ?? []).map((name) => {
    const { [name]: _gone, ...rest } = value as Record<string, unknown>
    return { name: `${path}.${name}: missing`, spec: put(rest), field: name }
  })
}

const MALICIOUS = ['', ' ', '../../etc/passwd', 'No Spaces Here', '-', '\u0000', 'é/..']

/** A value that violates each limit; undefined if the schema does not have the limit. */
const VIOLATIONS: Readonly<Record<string, (schema: JsonSchema, value: unknown) => unknown>> = {
  'wrong type': (schema) => (schema['x-kubernetes-int-or-string'] ? { no: 'scalar' } : WRONG_TYPE[schema.type ?? '']),
  'not in the list': ({ enum: values }) => values && 'nonsense',
  'too small': ({ minimum }) => (minimum === undefined ? undefined : minimum - 1),
  'too large': ({ maximum }) => (maximum === undefined ? undefined : maximum + 1),
  'not whole': ({ type }) => (type === 'integer' ? 1.5 : undefined),
  empty: ({ minLength = 0 }) => (minLength > 0 ? '' : undefined),
  'too long': ({ maxLength }) => (maxLength === undefined ? undefined : 'a'.repeat(maxLength + 1)),
  'does not match': ({ pattern = '' }) => MALICIOUS.find((text) => !new RegExp(pattern).test(text)),
  'no entries': ({ minItems = 0 }) => (minItems > 0 ? [] : undefined),
  'too many entries': ({ maxItems }, value) => (maxItems === undefined ? undefined : repeated(value, maxItems + 1)),
  'entry twice': (schema, value) => schema['x-kubernetes-list-map-keys'] && repeated(value, 2),
}

function invalidValues(schema: JsonSchema, value: unknown): [string, unknown][] {
  const all = Object.entries(VIOLATIONS).map(([what, violate]): [string, unknown] => [what, violate(schema, value)])
  return all.filter(([, wrong]) => wrong !== undefined)
}

const WRONG_TYPE: Readonly<Record<string, unknown>> = {
  string: 12345,
  integer: 'many',
  number: 'many',
  boolean: 'maybe',
  object: 'text',
  array: 'text',
}

const repeated = (list: unknown, times: number): unknown[] =>
  Array.from({ length: times }, (): unknown => (Array.isArray(list) ? list[0] : undefined))

const lastName = (path: string): string => path.split('.').at(-1)?.replace('[0]', '') ?? path
