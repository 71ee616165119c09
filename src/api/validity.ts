/**
 * Whether a value has the shape its schema asks for: types, enums, ranges, patterns. What CEL rules say about several
 * fields at once is the API server's to judge.
 */

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { plain } from './structural.ts'

const validators = new WeakMap<TSchema, Validator>()

export function fits(schema: TSchema, value: unknown): boolean {
  const validator = validators.get(schema) ?? Compile(plain(schema))
  validators.set(schema, validator)
  return validator.Check(value)
}
