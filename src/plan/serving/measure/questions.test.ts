/** What is asked, for every provider: restricted to the namespace, and about the time since the interval began. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import type { ServingStatus } from '../../../api/serving-status.ts'
import { providers } from '../../traffic/index.ts'
import { planServing } from '../plan.ts'
import { measuredRates } from './answers.ts'
import { questionsOf } from './questions.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const analysis = { maxLatencyP99Ms: 100, intervalSeconds: 60, watchSeconds: 0 }

function subject(status: ServingStatus, spec: object = {}) {
  const cluster = new ServingCluster(
    (observed) => planServing(observed),
    () => undefined,
    { spec },
  )
  for (let pass = 0; pass < 3; pass += 1) cluster.pass()
  return { ...cluster.observed, now: NOW, model: { ...cluster.model, status: { ...cluster.model.status, ...status } } }
}
const ask = (status: ServingStatus, spec: object = {}) =>
  questionsOf(subject(status, spec), { labels: { cluster: 'c"1' }, rateSeconds: 60, namespaceLabel: 'namespace' })

for (const provider of providers.all)
  test(`${provider.name}: ${provider.proxyName === undefined ? 'every selector has the namespace and the configured labels' : 'its proxies report'}`, () => {
    const { list } = ask({ traffic: { provider: provider.name } }) ?? {}
    const queries = provider.queries?.({})
    assert.equal(list === undefined, queries === undefined)
    assert.equal(
      queries === undefined,
      provider.proxyName !== undefined,
      'either proxies report or Prometheus is asked',
    )
    if (!queries || !list) return
    const { scopeLabel } = queries
    assert.deepEqual(
      list.map(({ id }) => id),
      ['rates/v1/requests', 'rates/v1/errors', 'rates/v1/latencyMs'],
    )
    for (const { query } of list) {
      assert.equal(query.split('{').length, query.split(`{cluster="c\\"1",${scopeLabel}="team-a",`).length, query)
      assert.match(query, /\[60s\]/)
      assert.doesNotMatch(query, /\{[a-z]+\}/, 'no placeholder is left')
    }
  })

const rollout = (more: object): RolloutStatus => ({
  phase: 'Progressing',
  revision: 2,
  stableRevision: 1,
  weights: [],
  step: 1,
  steps: 2,
  ...more,
})
const open = { since: '2026-01-01T00:08:20Z', source: 'Prometheus', counters: [] }
const during = (state: object) =>
  ask({ traffic: { provider: 'istio' }, rollout: rollout(state) }, { rollout: { analysis } })
const idsOf = (questions: ReturnType<typeof ask>, purpose: string) =>
  questions?.list.filter(({ id }) => id.startsWith(purpose)).map(({ id }) => id)

test('an open interval is asked for from its start until now', () => {
  const questions = during({ analysis: open })
  assert.deepEqual(
    idsOf(questions, 'interval'),
    ['requests', 'errors', 'latencyMs', 'latencyP99Ms'].map((figure) => `interval/v1/${figure}`),
  )
  for (const { id, query } of questions?.list ?? [])
    assert.ok(query.includes(id.startsWith('interval') ? '[100s]' : '[60s]'), query)
  assert.equal(questions?.dueAt, Date.parse('2026-01-01T00:09:20Z'))
})

test('a query of a user is restricted to the namespace, also where proxies count', () => {
  const metrics = [{ name: 'drift', query: 'max(drift{namespace="other",version="{version}"}[{range}])', max: '1' }]
  for (const provider of ['istio', 'router'] as const) {
    const source = provider === 'istio' ? 'Prometheus' : 'Reports'
    const status = { traffic: { provider }, rollout: rollout({ analysis: { ...open, source } }) }
    const found = ask(status, { rollout: { analysis: { ...analysis, metrics } } })?.list.find(
      ({ id }) => id === 'metric/v1/drift',
    )
    assert.equal(found?.query, 'max(drift{cluster="c\\"1",namespace="team-a",namespace="other",version="v1"}[100s])')
  }
})

const closed: readonly (readonly [string, object])[] = [
  ['no analysis', {}],
  ['no open interval', { analysis: { ...open, source: undefined } }],
  ['counters of proxies', { analysis: { ...open, source: 'Reports' } }],
  ['an interval that begins now', { analysis: { ...open, since: '2026-01-01T00:10:00Z' } }],
]
for (const [what, state] of closed)
  test(`${what}: nothing is asked about an interval`, () => assert.deepEqual(idsOf(during(state), 'interval'), []))

test('other intervals, versions and providers have other keys; time alone has not', () => {
  const key = (status: ServingStatus, spec: object = {}) => ask(status, spec)?.key
  const base = key({ traffic: { provider: 'istio' } })
  assert.equal(key({ traffic: { provider: 'istio' } }), base)
  assert.notEqual(key({ traffic: { provider: 'gateway' } }), base)
  assert.notEqual(
    during({ analysis: open })?.key,
    during({ analysis: { ...open, since: '2026-01-01T00:08:21Z' } })?.key,
  )
})

test('before the first status nothing is asked', () => {
  const { status: _status, ...model } = subject({}).model
  assert.equal(
    questionsOf({ ...subject({}), model }, { labels: {}, rateSeconds: 60, namespaceLabel: 'namespace' }),
    undefined,
  )
})

const rated: readonly (readonly [string, Record<string, number>, object])[] = [
  [
    'all figures',
    { requests: 120, errors: 12, latencyMs: 2400 },
    { requestsPerSecond: 2, errorRate: 0.1, averageLatencyMs: 20 },
  ],
  ['no errors', { requests: 120, latencyMs: 1200 }, { requestsPerSecond: 2, errorRate: 0, averageLatencyMs: 10 }],
  ['no latency', { requests: 60 }, { requestsPerSecond: 1, errorRate: 0 }],
  ['no requests', { requests: 0 }, { requestsPerSecond: 0 }],
  ['more errors than requests', { requests: 1, errors: 3 }, { requestsPerSecond: 1 / 60, errorRate: 1 }],
  ['a negative number', { requests: -5 }, { requestsPerSecond: 0 }],
]
for (const [what, figures, expected] of rated)
  test(`rates: ${what}`, () => {
    const values = new Map(Object.entries(figures).map(([figure, value]) => [`rates/v1/${figure}`, value]))
    const rates = measuredRates({ isAsked: true, pollMs: 1, rateSeconds: 60, answers: { at: 0, values } })
    assert.deepEqual(rates?.get('v1'), expected)
  })

test('rates: none while there is a problem or no answer', () => {
  const rest = { isAsked: true, pollMs: 1, rateSeconds: 60 }
  assert.equal(measuredRates(rest), undefined)
  assert.equal(measuredRates({ ...rest, answers: { at: 0, values: new Map(), problem: 'x' } }), undefined)
})
