import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { diff, edited } from './edits.ts'
import { isJsonObject, type JsonObject } from './json.ts'

const withoutNulls = fc
  .dictionary(
    fc.oneof(fc.constantFrom('a', 'b/c', '~d', ''), fc.string({ maxLength: 3 })),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  .map((value): JsonObject => JSON.parse(JSON.stringify(value, (_, nested) => (nested === null ? undefined : nested))))
  .filter((value) => isJsonObject(value) && !Object.hasOwn(value, '__proto__'))

test('applying the difference leads from one object to the other', () => {
  fc.assert(
    fc.property(withoutNulls, withoutNulls, (from, to) => {
      assert.deepEqual(edited(from, diff(from, to)), to)
    }),
  )
})

test('equal objects differ in nothing', () => {
  fc.assert(fc.property(withoutNulls, (object) => assert.deepEqual(diff(object, structuredClone(object)), {})))
})

test('a difference names leaves, removals and whole lists', () => {
  const from = { spec: { elastic: { maxWorkers: 4 }, args: ['a'], keep: 1 } }
  const to = { spec: { keep: 1, args: ['b'], checkpoint: { storage: { type: 's3' } }, empty: {} } }
  assert.deepEqual(diff(from, to), {
    '/spec/elastic': null,
    '/spec/args': ['b'],
    '/spec/checkpoint/storage/type': 's3',
    '/spec/empty': {},
  })
})
