import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { RetryBudget } from './retry-budget.ts'

test('an empty budget rejects until a token is added', () => {
  const budget = new RetryBudget({ capacity: 2, perSecond: 1 })
  assert.deepEqual([budget.take(0), budget.take(0), budget.take(0)], [true, true, false])
  assert.equal(budget.take(500), false)
  assert.equal(budget.take(1_000), true)
  assert.equal(budget.take(1_000), false)
})

test('however the retries are spread, they never exceed the burst plus the rate', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 300 }), { maxLength: 500 }), (gaps) => {
      const budget = new RetryBudget({ capacity: 10, perSecond: 5 })
      let now = 0
      let taken = 0
      for (const gap of gaps) {
        now += gap
        if (budget.take(now)) taken += 1
      }
      assert.ok(taken <= 10 + (now / 1000) * 5 + 1e-6)
    }),
  )
})
