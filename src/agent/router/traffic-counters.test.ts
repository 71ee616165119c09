import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { metricsPage } from './metrics-page.ts'
import { parseRequestLine } from './request-line.ts'
import { TrafficCounters } from './traffic-counters.ts'

describe('parseRequestLine', () => {
  const lines: readonly (readonly [string, object | undefined])[] = [
    ['v1 200 12 --', { version: 'v1', failed: false, latencyMs: 12 }],
    ['v1 404 1 --', { version: 'v1', failed: false, latencyMs: 1 }],
    ['v1 500 3 --', { version: 'v1', failed: true, latencyMs: 3 }],
    ['v2 503 1000 SC', { version: 'v2', failed: true, latencyMs: 1000 }],
    ['v2 -1 40 SD', { version: 'v2', failed: true, latencyMs: 40 }],
    ['v2 -1 40 CD', { version: 'v2', failed: false, latencyMs: 40 }],
    ['<NOSRV> 503 0 SC', undefined],
    ['-nobody 503 5000 SC', undefined],
    [`v1 200 ${'9'.repeat(400)} --`, undefined],
    ['anything else', undefined],
  ]
  for (const [line, expected] of lines) {
    test(line, () => assert.deepEqual(parseRequestLine(line), expected))
  }
})

describe('traffic counters', () => {
  const counted = (): TrafficCounters => {
    const counters = new TrafficCounters()
    for (let ms = 1; ms <= 100; ms += 1) counters.note({ version: 'v1', failed: ms > 95, latencyMs: ms })
    return counters
  }

  test('have sums, failures and quantiles', () => {
    assert.deepEqual(counted().of('v1'), {
      requests: 100,
      errors: 5,
      latencyMsSum: 5050,
      latencyMsP50: 50,
      latencyMsP99: 99,
    })
    assert.deepEqual(counted().of('v2'), { requests: 0, errors: 0, latencyMsSum: 0 })
  })

  test('count a retried attempt as a request and an error of the version that failed', () => {
    const counters = new TrafficCounters()
    counters.noteRetries('v2', 3)
    counters.note({ version: 'v1', failed: false, latencyMs: 1 })
    assert.deepEqual(counters.of('v2'), { requests: 3, errors: 3, latencyMsSum: 0 })
    assert.equal(counters.of('v1').errors, 0)
    // The count of HAProxy grows, and starts from zero after a restart.
    for (const total of [3, 4, 1]) counters.noteRetries('v2', total)
    assert.deepEqual(counters.of('v2'), { requests: 5, errors: 5, latencyMsSum: 0 })
  })

  test('have quantiles of the latest 1024 requests, and bounded memory', () => {
    const counters = counted()
    for (let index = 0; index < 2_000; index += 1) counters.note({ version: 'v1', failed: false, latencyMs: 7 })
    const { requests, latencyMsP50, latencyMsP99 } = counters.of('v1')
    assert.deepEqual([requests, latencyMsP50, latencyMsP99], [2_100, 7, 7])
    counters.keepOnly(new Set(['v2']))
    assert.equal(counters.of('v1').requests, 0)
  })

  test('are exposed to Prometheus', () => {
    const page = metricsPage({ startedAt: 0, versions: [{ version: 'v1', weight: 90, ...counted().of('v1') }] })
    assert.match(page, /^model_router_requests_total\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_errors_total\{version="v1"\} 5$/m)
    assert.match(page, /^model_router_request_duration_seconds\{version="v1",quantile="0.99"\} 0.099$/m)
    assert.match(page, /^model_router_request_duration_seconds_count\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_weight_percent\{version="v1"\} 90$/m)
  })
})
