import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { AnalysisCounter } from '../../../api/rollout-status.ts'
import { errorMillionths, figuresSince, latencyMicros } from './figures.ts'

const counter = (source: string, startedAt: number, requests: number, more: Partial<AnalysisCounter> = {}) => ({
  source,
  startedAt,
  version: 'v2',
  requests,
  errors: 0,
  latencyMs: 0,
  ...more,
})

const requestsOf = (before: AnalysisCounter[], now: AnalysisCounter[], since = 1000): number =>
  figuresSince(before, now, since).get('v2')?.requests ?? 0

test('several routers are summed', () => {
  assert.equal(requestsOf([counter('a', 1, 10), counter('b', 1, 5)], [counter('a', 1, 30), counter('b', 1, 9)]), 24)
})

test('a router that restarted counts from zero, also if it has counted more by then', () => {
  assert.equal(requestsOf([counter('a', 1, 10)], [counter('a', 2000, 7)]), 7)
  assert.equal(requestsOf([counter('a', 1, 10)], [counter('a', 2000, 30)]), 30)
})

test('a counter that fell has restarted', () => {
  assert.equal(requestsOf([counter('a', 1, 10)], [counter('a', 1, 4)]), 4)
})

test('a router that did not answer at the start counts only if it is younger than the interval', () => {
  assert.equal(requestsOf([counter('a', 1, 10)], [counter('b', 1, 500)]), 0)
  assert.equal(requestsOf([counter('a', 1, 10)], [counter('b', 1000, 5)]), 5)
})

test('a version that a router did not have at the start counts from zero', () => {
  const before = [counter('a', 1, 10, { version: 'v1' })]
  assert.equal(requestsOf(before, [counter('a', 1, 12, { version: 'v1' }), counter('a', 1, 3)]), 3)
})

test('a router that does not answer at the end is no figure', () => {
  assert.equal(requestsOf([counter('a', 1, 10), counter('b', 1, 5)], [counter('a', 1, 30)]), 20)
})

test('figures never exceed what was counted, and are whole and not negative', () => {
  const reading = fc.record({
    source: fc.constantFrom('a', 'b', 'c'),
    startedAt: fc.constantFrom(1, 500, 2000),
    version: fc.constantFrom('v1', 'v2'),
    requests: fc.nat(1000),
    errors: fc.nat(1000),
    latencyMs: fc.nat(100_000),
  })
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 6 }), fc.array(reading, { maxLength: 6 }), (before, now) => {
      for (const [version, figures] of figuresSince(before, now, 1000)) {
        const counted = now.filter((one) => one.version === version).reduce((sum, { requests }) => sum + requests, 0)
        assert.ok(figures.requests <= counted)
        for (const figure of Object.values(figures)) if (typeof figure === 'number') assert.ok(figure >= 0)
      }
    }),
  )
})

test('rates are whole numbers', () => {
  assert.equal(errorMillionths({ requests: 100, errors: 29, latencyMs: 0 }), 290_000)
  assert.equal(latencyMicros({ requests: 3, errors: 0, latencyMs: 10 }), 3333)
})
