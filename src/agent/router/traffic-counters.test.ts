import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { metricsPage } from './metrics-page.ts'
import type { Totals } from './statistics.ts'
import { TrafficCounters } from './traffic-counters.ts'

/** This many requests of at most 10, 100 and more milliseconds. */
const totals = (fast: number, slow: number, slowest: number, errors = 0): Totals => ({
  requests: fast + slow + slowest,
  errors,
  latencyMsSum: fast * 5 + slow * 50 + slowest * 500,
  buckets: new Map([
    [10, fast],
    [100, fast + slow],
    [Infinity, fast + slow + slowest],
  ]),
})
const of = (total: Totals) => new Map([['v1', total]])

describe('traffic counters', () => {
  test('have sums, errors, buckets and quantiles', () => {
    const counters = new TrafficCounters()
    counters.note(new Map(), 0)
    counters.note(of(totals(90, 10, 0, 5)), 500)
    assert.deepEqual(counters.of('v1'), {
      requests: 100,
      errors: 5,
      latencyMsSum: 950,
      latencyBuckets: [
        { leMs: 10, count: 90 },
        { leMs: 100, count: 100 },
      ],
      latencyMsP50: 50 / 9,
      latencyMsP99: 91,
    })
    assert.deepEqual(counters.of('v2'), { requests: 0, errors: 0, latencyMsSum: 0 })
  })

  test('leave out what Envoy had counted before', () => {
    const counters = new TrafficCounters()
    counters.note(of(totals(100, 0, 0)), 0)
    assert.equal(counters.of('v1').requests, 0)
    counters.note(of(totals(103, 0, 0)), 500)
    assert.equal(counters.of('v1').requests, 3)
  })

  test('never decrease, also when Envoy restarts', () => {
    const counters = new TrafficCounters()
    counters.note(new Map(), 0)
    const seen = [totals(5, 0, 0), totals(7, 0, 0), totals(2, 0, 0), totals(4, 0, 0)].map((total, index) => {
      counters.note(of(total), index * 500)
      return counters.of('v1').requests
    })
    counters.note(new Map(), 2_500)
    assert.deepEqual([...seen, counters.of('v1').requests], [5, 7, 9, 11, 11])
  })

  test('have quantiles of the last minute at most', () => {
    const counters = new TrafficCounters()
    counters.note(new Map(), 0)
    counters.note(of(totals(0, 100, 0)), 500)
    for (const [index, now] of [30_500, 60_500, 90_500].entries()) counters.note(of(totals(index * 10, 100, 0)), now)
    assert.ok((counters.of('v1').latencyMsP99 ?? Infinity) <= 10)
  })

  test('a latency above all bounds is the last bound', () => {
    const counters = new TrafficCounters()
    counters.note(new Map(), 0)
    counters.note(of(totals(0, 0, 10)), 500)
    assert.equal(counters.of('v1').latencyMsP99, 100)
  })

  test('are exposed to Prometheus', () => {
    const counters = new TrafficCounters()
    counters.note(new Map(), 0)
    counters.note(of(totals(90, 10, 0, 5)), 500)
    const page = metricsPage({ startedAt: 0, versions: [{ version: 'v1', weight: 90, ...counters.of('v1') }] })
    assert.match(page, /^model_router_requests_total\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_errors_total\{version="v1"\} 5$/m)
    assert.match(page, /^model_router_request_duration_seconds\{version="v1",quantile="0.99"\} 0.091$/m)
    assert.match(page, /^model_router_request_duration_seconds_count\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_weight_percent\{version="v1"\} 90$/m)
    assert.match(page, /^model_router_latency_seconds_bucket\{version="v1",le="0.01"\} 90$/m)
    assert.match(page, /^model_router_latency_seconds_bucket\{version="v1",le="\+Inf"\} 100$/m)
  })
})
