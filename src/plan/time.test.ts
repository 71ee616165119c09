import assert from 'node:assert/strict'
import { test } from 'node:test'
import { millis, notBefore, formatDuration, timestamp } from './time.ts'

test('formats durations in two units at most', () => {
  const table: readonly [number, string][] = [
    [0, '0s'],
    [-5, '0s'],
    [45, '45s'],
    [60, '1m'],
    [725, '12m 5s'],
    [8100, '2h 15m'],
    [7205, '2h'],
    [3 * 86_400 + 4 * 3600, '3d 4h'],
  ]
  for (const [seconds, words] of table) assert.equal(formatDuration(seconds * 1000), words)
})

test('formats and parses times as Kubernetes does', () => {
  assert.equal(timestamp(1999), '1970-01-01T00:00:01Z')
  assert.equal(notBefore(1001), '1970-01-01T00:00:02Z')
  assert.equal(notBefore(2000), '1970-01-01T00:00:02Z')
  assert.equal(millis('1970-01-01T00:00:02Z'), 2000)
  assert.equal(millis(undefined), undefined)
  assert.equal(millis('soon'), undefined)
})
