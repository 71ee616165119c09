/**
 * How a kind is declared. A declaration is a TypeBox schema: the object *is* the JSON schema, so the static type, the
 * CustomResourceDefinition, the editor schema and the reference page all come from the same lines. These helpers
 * add what Kubernetes adds to JSON schema, and refuse a field without a description at compile time.
 */

import { type Static, type TArray, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

/** A validation rule in the Common Expression Language, evaluated by the API server at admission. */
export interface Rule {
  readonly rule: string
  /** Names the field and says how to put it right. */
  readonly message: string
  /** Which field below the ruled node the error is reported at, e.g. `.numWorkers`. */
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
  /** `{}` makes the server create the object, so that the defaults inside it are filled in and visible. */
  readonly default?: Readonly<Record<string, never>>
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The static type of a declaration as the API server returns it: defaults filled in. Nothing in it may be changed. */
export type Infer<S extends TSchema> = DeepReadonly<Static<S>>
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** Kubernetes' own grammar of a quantity, without the sign: no resource can be negative. */
export const QUANTITY = '^(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$'

/** The name of an object that others are named after: a DNS label that starts with a letter. */
export const DNS_LABEL = '^[a-z]([-a-z0-9]*[a-z0-9])?$'

export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

export function cel(rule: string, message: string, at: Pick<Rule, 'fieldPath' | 'reason'> = {}): Rule {
  return { rule, message, ...at }
}

/** `rules` is our word for it; the API server reads `x-kubernetes-validations`. */
function keywords({ rules, ...options }: Documented): Record<string, unknown> {
  return rules === undefined ? options : { ...options, 'x-kubernetes-validations': rules }
}

export const optional = Type.Optional

export const text = (options: StringOptions) => Type.String(keywords(options))

export const flag = (options: Documented & { readonly default?: boolean }) => Type.Boolean(keywords(options))

export const int32 = (options: NumberOptions) => Type.Integer({ format: 'int32', ...keywords(options) })

export const int64 = (options: NumberOptions) => Type.Integer({ format: 'int64', ...keywords(options) })

/** A floating point number. Only for what is one by nature: a loss, a rate, a latency. */
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

/** A number, or text that reads as one: what a schema language without union types can say of it. */
export function numberOrText(options: Documented & { readonly pattern: string }): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({ 'x-kubernetes-preserve-unknown-fields': true, ...keywords(options) })
}

export function object<P extends TProperties>(properties: P, options: ObjectOptions): TObject<P> {
  const { extra = {}, ...rest } = options
  return Type.Object(properties, { ...keywords(rest), ...extra })
}

/** A map with keys of the user's choosing. */
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

/** A list of objects merged by key: server-side apply owns its entries one by one and duplicates are refused. */
export function listMap<S extends TSchema>(item: S, keys: readonly string[], options: ListOptions): TArray<S> {
  return Type.Array(item, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...keywords(options),
  })
}

/** A list that is replaced as a whole, because its order carries the meaning. */
export function list<S extends TSchema>(item: S, options: ListOptions): TArray<S> {
  return Type.Array(item, { 'x-kubernetes-list-type': 'atomic', ...keywords(options) })
}

/** No `..` segment, so that a path stays below the place it starts from. */
export const staysInside = (field: string): Rule =>
  cel(`!self.matches('(^|/)[.][.](/|$)')`, `${field} must not contain a ".." segment: write the path it stands for`)
