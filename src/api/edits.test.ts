import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { diff, applyEdits, formatEdits } from './edits.ts'
import { isJsonObject, type JsonObject } from './json.ts'

const withoutNulls = fc
  .dictionary(
    fc.oneof(fc.constantFrom('a', 'b/c', '~d', '', '__proto__', 'constructor'), fc.string({ maxLength: 3 })),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  .map((value): JsonObject => JSON.parse(JSON.stringify(value, (_, nested) => (nested === null ? undefined : nested))))
  .filter(isJsonObject)

test('applying the difference turns one object into the other', () => {
  fc.assert(
    fc.property(withoutNulls, withoutNulls, (from, to) => {
      assert.deepEqual(applyEdits(from, diff(from, to)), to)
    }),
  )
})

test('the difference of equal objects is empty', () => {
  fc.assert(fc.property(withoutNulls, (object) => assert.deepEqual(diff(object, structuredClone(object)), [])))
})

test('a difference lists changed leaves, removed fields and whole lists', () => {
  const from = { spec: { elastic: { maxWorkers: 4 }, args: ['a'], keep: 1 } }
  const to = { spec: { keep: 1, args: ['b'], checkpoint: { storage: { type: 's3' } }, empty: {} } }
  assert.deepEqual(JSON.parse(formatEdits(diff(from, to))), {
    '/spec/elastic': null,
    '/spec/args': ['b'],
    '/spec/checkpoint/storage/type': 's3',
    '/spec/empty': {},
  })
})
