import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { isOlder } from './resource-version.ts'

test('versions are compared as numbers of any size', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
      assert.equal(isOlder(String(a), String(b)), a < b)
    }),
  )
})

test('versions that are not numbers cannot be compared', () => {
  for (const [a, b] of [
    ['', '5'],
    ['5', ''],
    ['abc', '5'],
    ['-1', '5'],
    ['0x1', '5'],
  ] as const) {
    assert.equal(isOlder(a, b), false, `${a} ${b}`)
  }
})
