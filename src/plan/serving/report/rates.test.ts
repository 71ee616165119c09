import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VersionRates } from '../../../api/router-report.ts'
import type { ServingStatus } from '../../../api/serving-status.ts'
import { ratesOf } from './rates.ts'
import type { Routing } from '../steps/routing.ts'
import type { ModelView } from '../observe/view.ts'
import { providers } from '../../traffic/index.ts'

const routed = { active: [{ provider: providers.of('router') }] } as unknown as Routing
const direct = { active: [{ provider: providers.of('direct') }] } as unknown as Routing

function view(recorded: ServingStatus, rates?: Record<string, VersionRates>): ModelView {
  return { recorded, observed: { ...(rates && { rates: new Map(Object.entries(rates)) }) } } as unknown as ModelView
}

const v1 = { requestsPerSecond: 90, averageLatencyMs: 20, errorRate: 0 }
const v2 = { requestsPerSecond: 10, averageLatencyMs: 40, errorRate: 0.1 }
const total = { requestsPerSecond: 100, averageLatencyMs: 22, errorRate: 0.01 }
const known: ServingStatus = {
  metrics: total,
  activeVersions: [
    { name: 'v1', metrics: v1 },
    { name: 'v2', metrics: v2 },
  ],
}

test('a model has the sum of its versions, latency and errors by requests', () => {
  const { model, versions } = ratesOf(view({}, { v1, v2 }), routed)
  assert.deepEqual(model, total)
  assert.deepEqual(Object.fromEntries(versions), { v1, v2 })
})

const steady: readonly [string, VersionRates][] = [
  ['a tenth more or less', { requestsPerSecond: 98, averageLatencyMs: 18.1, errorRate: 0 }],
  ['the same', v1],
]
for (const [what, rates] of steady)
  test(`${what} is not noticeable`, () => {
    assert.equal(ratesOf(view(known, { v1: rates, v2 }), routed).versions.get('v1'), v1)
  })

const news: readonly [string, Record<string, VersionRates>][] = [
  ['more requests', { v1: { ...v1, requestsPerSecond: 100 }, v2 }],
  ['slower answers', { v1: { ...v1, averageLatencyMs: 23 }, v2 }],
  ['the first errors', { v1: { ...v1, errorRate: 0.0001 }, v2 }],
  ['a version that came', { v1, v2, v3: { requestsPerSecond: 0 } }],
  ['a version that went', { v1 }],
  ['an end of all requests', { v1: { requestsPerSecond: 0 }, v2: { requestsPerSecond: 0 } }],
]
for (const [what, rates] of news)
  test(`${what} renews all figures`, () => {
    assert.deepEqual(Object.fromEntries(ratesOf(view(known, rates), routed).versions), rates)
  })

test('without new reports the last figures stay while a proxy is active, and are removed with it', () => {
  assert.deepEqual(ratesOf(view(known), routed).model, total)
  assert.deepEqual(ratesOf(view(known), direct), { versions: new Map() })
})
