import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from './fake-clock.ts'
import { TokenBuckets } from './token-buckets.ts'

test('each key has a burst, then one token per interval', () => {
  const clock = new FakeClock()
  const buckets = new TokenBuckets({ burst: 2, refillMs: 1_000, clock })
  assert.deepEqual([buckets.take('a'), buckets.take('a'), buckets.take('a')], [true, true, false])
  assert.equal(buckets.take('b'), true)
  clock.advance(1_000)
  assert.deepEqual([buckets.take('a'), buckets.take('a')], [true, false])
  clock.advance(3_600_000)
  assert.deepEqual([buckets.take('a'), buckets.take('a'), buckets.take('a')], [true, true, false])
})
