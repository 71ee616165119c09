/** Rollouts that are judged by Prometheus, with a provider that counts nothing itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { analysis, isAt, one, phase, steps, two, until, weights } from '../../../../test/sim/rollout-cluster.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { ServingOracles } from '../../../../test/sim/serving-oracles.ts'
import { SimulatedPrometheus } from '../../../../test/sim/simulated-prometheus.ts'
import { getCondition } from '../../../api/conditions.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { fits } from '../../../api/validity.ts'
import { planServing } from '../plan.ts'

function measured(rollout: object = { steps, analysis }, traffic: object = { provider: 'istio' }) {
  const prometheus = new SimulatedPrometheus()
  const oracles = new ServingOracles()
  const cluster = new ServingCluster(
    (observed) => planServing({ ...observed, measured: prometheus.measured(observed) }),
    (now, write) => oracles.check(now, write),
    { spec: { ...one, rollout, traffic }, offers: ['istio'] },
  )
  assert.ok(calm(cluster, 60))
  return { cluster, prometheus }
}

const rollout = ({ model }: ServingCluster) => model.status?.rollout

test('a good version is promoted step by step', () => {
  const { cluster, prometheus } = measured()
  cluster.edit(two)
  until(cluster, isAt(1))
  assert.equal(weights(cluster), 'v2:10 v1:90')
  assert.equal(rollout(cluster)?.analysis?.source, 'Prometheus')
  assert.deepEqual(rollout(cluster)?.analysis?.counters, [])
  assert.ok(calm(cluster, 120))
  assert.equal(phase(cluster), 'Completed')
  assert.equal(weights(cluster), 'v2:100')
  assert.ok(!prometheus.asked.has('interval/v2/latencyP99Ms'), 'asked only if there is a limit')
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
})

describe('a version is rolled back', () => {
  const bad: readonly (readonly [string, object, object, RegExp])[] = [
    ['by its errors', {}, { errors: 20 }, /errorRate of v2 is 20 %, above 5 %/],
    ['by its latency relative to the stable version', {}, { latencyMs: 30 }, /latencyMs of v2 is 30 ms, above 20 ms/],
    ['by its p99', { maxLatencyP99Ms: 100 }, { latencyP99Ms: 100.5 }, /latencyP99Ms of v2 is 100.5 ms, above 100 ms/],
  ]
  for (const [what, limits, counted, message] of bad)
    test(what, () => {
      const { cluster, prometheus } = measured({ steps, analysis: { ...analysis, ...limits } })
      prometheus.versions.set('v2', counted)
      cluster.edit(two)
      assert.ok(calm(cluster, 120))
      assert.equal(phase(cluster), 'RolledBack')
      assert.match(rollout(cluster)?.message ?? '', message)
      assert.equal(weights(cluster), 'v1:100')
      assert.ok(fits(modelDeploymentV1.status, cluster.model.status))
    })

  test('in the last moment of the watch', () => {
    const { cluster, prometheus } = measured()
    cluster.edit(two)
    until(cluster, isAt(3))
    prometheus.isSilent = true
    for (let pass = 0; pass < 30; pass += 1) calm(cluster, 1)
    assert.equal(phase(cluster), 'Watching', 'the last interval is not judged yet')
    prometheus.isSilent = false
    prometheus.versions.set('v2', { errors: 50 })
    assert.ok(calm(cluster, 120))
    assert.equal(phase(cluster), 'RolledBack')
  })
})

test('a p99 at its limit passes; without histograms the rollout waits and says so', () => {
  const limited = { steps, analysis: { ...analysis, maxLatencyP99Ms: 100 } }
  const good = measured(limited)
  good.prometheus.versions.set('v2', { latencyP99Ms: 100 })
  good.cluster.edit(two)
  assert.ok(calm(good.cluster, 120))
  assert.equal(phase(good.cluster), 'Completed')
  const { cluster } = measured(limited)
  cluster.edit(two)
  assert.ok(calm(cluster, 60), 'at rest')
  assert.match(
    rollout(cluster)?.message ?? '',
    /Prometheus has no latencyP99Ms of v2: remove the limit from spec.rollout.analysis/,
  )
  assert.equal(weights(cluster), 'v2:10 v1:90')
})

test('a Prometheus that fails stops the rollout, which says why, and goes on later', () => {
  const { cluster, prometheus } = measured()
  cluster.edit(two)
  until(cluster, isAt(1))
  prometheus.problem = 'answers with 500'
  assert.ok(calm(cluster, 60), 'at rest: nothing is written while it waits')
  assert.equal(rollout(cluster)?.reason, 'WaitingForMetrics')
  assert.match(rollout(cluster)?.message ?? '', /^Step 1 of 3 \(10 %\): waiting for Prometheus: it answers with 500$/)
  assert.equal(getCondition(cluster.model.status?.conditions, 'Metrics')?.reason, 'PrometheusUnavailable')
  assert.equal(weights(cluster), 'v2:10 v1:90')
  prometheus.problem = undefined
  assert.ok(calm(cluster, 120))
  assert.equal(phase(cluster), 'Completed')
})

test('a step that has passed and waits for a person does not alternate with an unread interval', () => {
  const { cluster, prometheus } = measured({ steps: [{ weight: 10, pause: true }], analysis })
  cluster.edit(two)
  until(cluster, () => phase(cluster) === 'Paused')
  prometheus.problem = 'answers with 500'
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Paused')
  assert.equal(rollout(cluster)?.reason, 'StepPaused')
})

test('without a Prometheus the rollout says that nothing counts', () => {
  const cluster = new ServingCluster(
    (observed) => planServing(observed),
    () => undefined,
    {
      spec: { ...one, rollout: { steps, analysis }, traffic: { provider: 'istio' } },
      offers: ['istio'],
    },
  )
  assert.ok(calm(cluster, 60))
  cluster.edit(two)
  assert.ok(calm(cluster, 60))
  assert.match(
    rollout(cluster)?.message ?? '',
    /istio reports no figures of v2, and the operator has no prometheus.url/,
  )
  assert.equal(getCondition(cluster.model.status?.conditions, 'Metrics')?.reason, 'NoSource')
})

describe('metrics of a user', () => {
  const accuracy = { name: 'accuracy', query: 'avg(accuracy{version="{version}"})' }
  const limited = (limit: object, query = {}) => ({
    steps,
    analysis: { ...analysis, metrics: [{ ...accuracy, ...query, ...limit }] },
  })
  const ends: readonly (readonly [string, object, number, string, RegExp])[] = [
    ['a value at its limit passes', { min: '0.9' }, 0.9, 'Completed', /^$/],
    ['too small', { min: '0.9' }, 0.85, 'RolledBack', /accuracy of v2 is 0.85, below 0.9$/],
    ['too large', { max: '-2' }, -1, 'RolledBack', /accuracy of v2 is -1, above -2$/],
    [
      'too large for the stable version',
      { maxRatio: '120%' },
      1.21,
      'RolledBack',
      /accuracy of v2 is 1.21, above 1.2$/,
    ],
    ['close to the stable version', { maxRatio: '120%' }, 1.2, 'Completed', /^$/],
  ]
  for (const provider of ['istio', 'router'])
    for (const [what, limit, value, end, message] of ends)
      test(`${provider}: ${what}`, () => {
        const { cluster, prometheus } = measured(limited(limit), { provider })
        prometheus.versions.set('v1', { metrics: { accuracy: 1 } })
        prometheus.versions.set('v2', { metrics: { accuracy: value } })
        cluster.edit(two)
        assert.ok(calm(cluster, 120))
        assert.equal(phase(cluster), end)
        assert.match(rollout(cluster)?.message ?? '', message)
        assert.ok(fits(modelDeploymentV1.status, cluster.model.status))
      })

  const waits: readonly (readonly [string, object, Record<string, number>, RegExp])[] = [
    ['no value', {}, {}, /Prometheus has no accuracy of v2: remove the limit/],
    ['no value of the stable version', { maxRatio: '120%' }, { accuracy: 1 }, /Prometheus has no accuracy of v1/],
    [
      'a query that is not understood',
      { query: 'a # b' },
      {},
      /spec.rollout.analysis.metrics\[0\].query cannot read "# b"/,
    ],
  ]
  for (const [what, change, metrics, message] of waits)
    test(`${what}: the rollout waits and says so`, () => {
      const { cluster, prometheus } = measured(limited({ max: '5' }, change), { provider: 'router' })
      prometheus.versions.set('v2', { metrics })
      cluster.edit(two)
      assert.ok(calm(cluster, 60), 'at rest')
      assert.match(rollout(cluster)?.message ?? '', message)
      assert.equal(weights(cluster), 'v2:10 v1:90')
    })

  test('without a Prometheus the rollout waits and says so', () => {
    const spec = { ...one, rollout: limited({ max: '5' }), traffic: { provider: 'router' } }
    const cluster = new ServingCluster(
      (observed) => planServing(observed),
      () => undefined,
      { spec },
    )
    assert.ok(calm(cluster, 60))
    cluster.edit(two)
    assert.ok(calm(cluster, 60))
    assert.match(rollout(cluster)?.message ?? '', /metrics needs Prometheus: set prometheus.url/)
  })
})
