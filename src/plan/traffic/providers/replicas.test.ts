/** What only `replicas` does. The contract of all providers is in test/contracts/traffic-provider.ts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { replicas } from './replicas.ts'

const { splitPods } = replicas

describe('splitPods', () => {
  const table: readonly [Record<string, number>, number, Record<string, number>][] = [
    [{ a: 90, b: 10 }, 10, { a: 9, b: 1 }],
    [{ a: 95, b: 5 }, 10, { a: 9, b: 1 }],
    [{ a: 50, b: 50 }, 3, { a: 2, b: 1 }],
    [{ a: 99, b: 1 }, 1, { a: 1, b: 1 }],
    [{ a: 100, b: 0 }, 3, { a: 3, b: 0 }],
    [{ a: 33, b: 33, c: 34 }, 10, { a: 3, b: 3, c: 4 }],
    [{ a: 60, b: 39, c: 1 }, 3, { a: 1, b: 1, c: 1 }],
  ]
  for (const [weights, total, expected] of table) {
    test(`${JSON.stringify(weights)} of ${total} pods`, () => {
      assert.deepEqual(Object.fromEntries(splitPods(new Map(Object.entries(weights)), total)), expected)
    })
  }

  test('never loses a pod, never starves a version that has weight, never keeps one that has none', () => {
    const weights = fc.dictionary(fc.stringMatching(/^v[0-9]$/), fc.nat(100), { minKeys: 1 })
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 200 }), (given, total) => {
        const split = splitPods(new Map(Object.entries(given)), total)
        const served = Object.values(given).filter((weight) => weight > 0).length
        const sum = [...split.values()].reduce((all, count) => all + count, 0)
        assert.equal(sum, served === 0 ? 0 : Math.max(total, served))
        for (const [version, weight] of Object.entries(given)) assert.equal((split.get(version) ?? 0) > 0, weight > 0)
      }),
    )
  })
})
