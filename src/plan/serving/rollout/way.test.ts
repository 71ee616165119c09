import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { apportion, sum } from '../../traffic/index.ts'
import { between, gaining } from './way.ts'

const split = fc
  .array(fc.nat(100), { minLength: 4, maxLength: 4 })
  .filter((parts) => parts.some((part) => part > 0))
  .map((parts) => apportion(new Map(parts.map((part, index) => [`v${index + 1}`, part])), 100))

test('every point of the way sums to 100, and its ends are the two splits', () => {
  fc.assert(
    fc.property(split, split, fc.integer({ min: 1, max: 100 }), (from, to, share) => {
      const weights = between(from, to, share)
      assert.equal(sum(weights), 100)
      assert.ok([...weights.values()].every((weight) => Number.isInteger(weight) && weight > 0))
      for (const name of gaining(from, to)) assert.ok((weights.get(name) ?? 0) > 0, `${name} is judged at every step`)
      for (const [name, weight] of between(from, to, 100)) assert.equal(weight, to.get(name))
    }),
  )
})

test('a version that replaces another gets the share of the step', () => {
  const weights = between(new Map([['v1', 100]]), new Map([['v2', 100]]), 10)
  assert.deepEqual(Object.fromEntries(weights), { v1: 90, v2: 10 })
})

test('a small step is at least one percent', () => {
  const weights = between(new Map([['v1', 100]]), new Map(Object.entries({ v1: 95, v2: 5 })), 1)
  assert.deepEqual(Object.fromEntries(weights), { v1: 99, v2: 1 })
})
