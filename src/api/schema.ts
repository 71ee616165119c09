/**
 * Builders for the schemas of our kinds. A declaration is a TypeBox schema: the object *is* the JSON schema, so the static
 * type, the CRD, the editor schema and the reference page come from one source. The builders add the Kubernetes
 * extensions of JSON schema and require a description of every field at compile time.
 */

import { type Static, type TArray, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

/** A validation rule in the Common Expression Language, evaluated by the API server at admission. */
export interface Rule {
  readonly rule: string
  /** Names the field and the fix. */
  readonly message: string
  /** Field that the error is reported at, relative to the node with the rule, for example `.numWorkers`. */
  readonly fieldPath?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
}

interface Documented {
  readonly description: string
  readonly examples?: readonly unknown[]
  readonly rules?: readonly Rule[]
}

interface StringOptions extends Documented {
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly default?: string
}

interface NumberOptions extends Documented {
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

interface ListOptions extends Documented {
  readonly minItems?: number
  readonly maxItems: number
}

interface ObjectOptions extends Documented {
  /** `{}` makes the API server create the object, so that the defaults of its fields are filled in. */
  readonly default?: Readonly<Record<string, never>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The static type of objects as the API server returns them: defaults are set, and all fields are read-only. */
export type Infer<S extends TSchema> = DeepReadonly<Static<S>>
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/**
 * The Kubernetes grammar of a quantity, without a sign, because resources are never negative, and with at most three
 * digits of exponent: the API server hangs on `1e2147483648`.
 */
export const QUANTITY = '^(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]{1,3}))?$'

/** A DNS label that starts with a letter, so that names of Services can be derived from it. */
export const DNS_LABEL = '^[a-z]([-a-z0-9]*[a-z0-9])?$'

export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

/** The name of an object in the same namespace, or `namespace/name`. */
export const NAMESPACED_NAME =
  '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

export function cel(rule: string, message: string, at: Pick<Rule, 'fieldPath' | 'reason'> = {}): Rule {
  return { rule, message, ...at }
}

/** Translates `rules` to `x-kubernetes-validations`. */
function keywords({ rules, ...options }: Documented): Record<string, unknown> {
  return rules === undefined ? options : { ...options, 'x-kubernetes-validations': rules }
}

export const optional = Type.Optional

export const text = (options: StringOptions) => Type.String(keywords(options))

/** The name of another object, as a DNS subdomain. */
export const objectName = (description: string, example: string, limits: Pick<StringOptions, 'minLength'> = {}) =>
  text({ description, ...limits, maxLength: 253, pattern: DNS_SUBDOMAIN, examples: [example] })

export const flag = (options: Documented & { readonly default?: boolean }) => Type.Boolean(keywords(options))

export const int32 = (options: NumberOptions) => Type.Integer({ format: 'int32', ...keywords(options) })

export const int64 = (options: NumberOptions) => Type.Integer({ format: 'int64', ...keywords(options) })

/** A floating-point number. Only for measurements in a status: a loss, a rate, a latency. */
export const number = (options: NumberOptions) => Type.Number({ format: 'double', ...keywords(options) })

export const dateTime = (options: Documented) => Type.String({ format: 'date-time', ...keywords(options) })

export function strEnum<const V extends string>(
  values: readonly V[],
  options: Documented & { readonly default?: V },
): TUnsafe<V> {
  return Type.Unsafe<V>({ type: 'string', enum: values, ...keywords(options) })
}

interface IntOrStringOptions extends Documented {
  readonly pattern?: string
  readonly maxLength?: number
  readonly default?: number | string
}

export function intOrString(options: IntOrStringOptions): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...keywords(options),
  })
}

export const quantity = (options: Omit<IntOrStringOptions, 'pattern'>) =>
  intOrString({ pattern: QUANTITY, maxLength: 32, ...options })

/** A number, or a string with a number. Structural schemas have no such union, so the field preserves unknown fields. */
export function numberOrText(options: Documented & { readonly pattern: string }): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({ 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) })
}

export function object<P extends TProperties>(properties: P, options: ObjectOptions): TObject<P> {
  const { extra = {}, ...rest } = options
  return Type.Object(properties, { ...keywords(rest), ...extra })
}

/** A map with arbitrary keys. */
export function mapOf<S extends TSchema>(
  value: S,
  options: Documented & { readonly maxProperties?: number },
): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    additionalProperties: value,
    ...keywords(options),
  })
}

/** A list of objects merged by key. Server-side apply tracks the owner of each entry, and duplicates are rejected. */
export function listMap<S extends TSchema>(item: S, keys: readonly string[], options: ListOptions): TArray<S> {
  return Type.Array(item, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...keywords(options),
  })
}

/** An atomic list: it is replaced as a whole. */
export function list<S extends TSchema>(item: S, options: ListOptions): TArray<S> {
  return Type.Array(item, { 'x-kubernetes-list-type': 'atomic', ...keywords(options) })
}

/** Rejects `..` segments, so that a path cannot leave its root. */
export const staysInside = (field: string): Rule =>
  cel(`!self.matches('(^|/)[.][.](/|$)')`, `${field} must not contain a ".." segment: write the resolved path`)
