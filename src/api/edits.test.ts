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

test('keys with the characters that a pointer escapes stay as they are', () => {
  const to: JsonObject = { a: { '~': 1, '/': 2, '~0': 3, '~1': 4, '~01': 5, '~10': 6, '/~1': 7 } }
  const edits = diff({ a: {} }, to)
  assert.deepEqual(applyEdits({ a: {} }, edits), to)
  assert.deepEqual(
    edits.map(([at]) => at),
    ['/a/~0', '/a/~1', '/a/~00', '/a/~01', '/a/~001', '/a/~010', '/a/~1~01'],
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
