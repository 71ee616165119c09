import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { backoffMs, spread } from './backoff.ts'

const policies = fc.record({
  baseMs: fc.integer({ min: 1, max: 10_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  maxMs: fc.integer({ min: 1, max: 3_600_000 }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
})
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('without jitter the delay grows by the factor and stops at the maximum', () => {
  const policy = { baseMs: 10, factor: 3, maxMs: 500, jitter: 0 }
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((failures) => backoffMs(policy, failures, 0.5)),
    [10, 30, 90, 270, 500, 500],
  )
})

test('property: the delay is between the jittered and the full delay and never above the maximum', () => {
  const failures = fc.oneof(fc.nat(50), fc.constant(Number.MAX_SAFE_INTEGER))
  fc.assert(
    fc.property(policies, failures, randoms, (policy, count, random) => {
      const delay = backoffMs(policy, count, random)
      const ideal = backoffMs({ ...policy, jitter: 0 }, count, random)
      assert.ok(Number.isFinite(delay) && delay <= policy.maxMs)
      assert.ok(delay <= ideal && delay >= ideal * (1 - policy.jitter) - 1e-6)
    }),
  )
})

test('property: with equal randomness, the delay never shrinks with one more failure', () => {
  fc.assert(
    fc.property(policies, fc.nat(60), randoms, (policy, count, random) => {
      assert.ok(backoffMs(policy, count + 1, random) >= backoffMs(policy, count, random))
    }),
  )
})

test('property: a spread stays within its share', () => {
  fc.assert(
    fc.property(fc.nat(1e9), randoms, (ms, random) => {
      const result = spread(ms, 0.1, random)
      assert.ok(result >= ms * 0.9 - 1e-6 && result <= ms * 1.1 + 1e-6)
    }),
  )
})
