import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'

import { checkpointFiles } from '../../../test/fixtures/checkpoints.ts'
import { MAX_FILES, parseMarker } from './marker.ts'

const VALID = { step: 3, time: '2026-01-01T12:00:00.000Z', files: { 'model.pt': 7, 'nested/optimizer.pt': 0 } }
const withFiles = (files: unknown): string => JSON.stringify({ ...VALID, files })

describe('a marker', () => {
  test('has step, time, files, and a digest of its text', () => {
    const marker = parseMarker(JSON.stringify(VALID))
    assert.deepEqual([marker?.step, marker?.time], [3, '2026-01-01T12:00:00.000Z'])
    assert.deepEqual([...(marker?.files ?? [])], Object.entries(VALID.files))
    assert.notEqual(marker?.digest, parseMarker(JSON.stringify(VALID, null, 1))?.digest)
    assert.ok(parseMarker(checkpointFiles(1)['.complete'] ?? ''))
    assert.equal(parseMarker(withFiles({}))?.files.size, 0)
  })

  for (const [what, text] of [
    ['no JSON', 'complete'],
    ['an array', '[]'],
    ['null', 'null'],
    ['no step', JSON.stringify({ ...VALID, step: undefined })],
    ['a negative step', JSON.stringify({ ...VALID, step: -1 })],
    ['a fractional step', JSON.stringify({ ...VALID, step: 1.5 })],
    ['a step beyond 2^53', JSON.stringify(VALID).replace('"step":3', '"step":99999999999999999999')],
    ['a step that is text', JSON.stringify({ ...VALID, step: '3' })],
    ['a time that is none', JSON.stringify({ ...VALID, time: 'yesterday' })],
    ['a very long time', JSON.stringify({ ...VALID, time: `2026-01-01T12:00:00.000Z${' '.repeat(100)}` })],
    ['a list of files', withFiles(['model.pt'])],
    ['a size that is negative', withFiles({ a: -1 })],
    ['a size that is text', withFiles({ a: '1' })],
    ['a path out of the directory', withFiles({ '../a': 1 })],
    ['a path that leads out and in again', withFiles({ 'a/../../b/c': 1 })],
    ['an absolute path', withFiles({ '/etc/passwd': 1 })],
    ['a path with an empty part', withFiles({ 'a//b': 1 })],
    ['a path with a dot', withFiles({ './a': 1 })],
    ['an empty path', withFiles({ '': 1 })],
    ['a path with a zero byte', withFiles({ 'a\0b': 1 })],
    ['a path with half of a character', withFiles({ '\ud800': 1 })],
    ['a name that is too long', withFiles({ ['é'.repeat(128)]: 1 })],
    ['a path that is too long', withFiles({ [`${'a/'.repeat(400)}b`]: 1 })],
    ['itself', withFiles({ '.complete': 1 })],
    ['a path that is a file and a directory', withFiles({ a: 1, 'a/b': 1 })],
    ['too many files', withFiles(Object.fromEntries(Array.from({ length: MAX_FILES + 1 }, (_, i) => [`f${i}`, 1])))],
    ['ten megabytes', JSON.stringify({ ...VALID, padding: 'x'.repeat(10_000_000) })],
  ] as const) {
    test(`with ${what} is not valid`, () => assert.equal(parseMarker(text), undefined))
  }

  test('property: any JSON is either rejected, or all of its paths are below the directory', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', '.complete', '\\', '\0', '\n'), fc.string())
    const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'))
    const files = fc.dictionary(path, fc.oneof(fc.nat(), fc.integer(), fc.double()), { noNullPrototype: true })
    fc.assert(
      fc.property(files, fc.oneof(fc.nat(), fc.jsonValue()), (given, step) => {
        const marker = parseMarker(JSON.stringify({ step, time: VALID.time, files: given }))
        for (const [one, size] of marker?.files ?? []) {
          const parts = one.split('/')
          assert.ok(!parts.includes('..') && !parts.includes('') && !one.startsWith('/') && !one.includes('\0'))
          assert.ok(Number.isSafeInteger(size) && size >= 0)
        }
      }),
      { numRuns: 300 },
    )
    fc.assert(fc.property(fc.string(), (text) => void parseMarker(text)))
  })
})
