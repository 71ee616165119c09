/** Validates values against a schema: types, enums, ranges and patterns. CEL rules are evaluated by the API server only. */

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { plain } from './structural.ts'

const validators = new WeakMap<TSchema, Validator>()

export function fits(schema: TSchema, value: unknown): boolean {
  const validator = validators.get(schema) ?? Compile(plain(schema))
  validators.set(schema, validator)
  return validator.Check(value)
}
