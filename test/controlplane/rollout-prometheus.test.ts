/** A real Prometheus counts the requests of models behind a Gateway: rollouts are judged by it. On a cluster of its own. */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { ActiveVersion } from '../../src/api/serving-status.ts'
import type { Analysis, Rollout } from '../../src/api/serving-rollout.ts'
import { MetricReader } from '../../src/integrations/prometheus/metric-reader.ts'
import { defaultPrometheusConfig, prometheusClient } from '../../src/integrations/prometheus/prometheus-client.ts'
import { scopedQuery } from '../../src/plan/promql/scoped-query.ts'
import { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { missingForPrometheus } from '../../testenv/prometheus.ts'
import { versions } from '../builders/model-deployment.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { installTrafficKinds } from '../cluster/traffic-crds.ts'
import { FakeGateway } from '../fakes/gateway.ts'
import { conditionOf, MODEL, ownNamespace, servingFixture, versionIn, weightsOf } from '../fixtures/serving.ts'
import { serveModelPage } from '../monitoring/model-page.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import { Dice } from '../random/dice.ts'
import { until } from '../timing/until.ts'

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`
const NS = 'counted'

const { cluster, client, node } = await ownCluster()
const page = await serveModelPage(NS, MODEL, ['v1', 'v2', 'v3', 'v4'])
const prometheus = skip === false ? await startPrometheus([{ job: 'models', address: page.address }]) : undefined
after(async () => {
  await prometheus?.stop()
  page.close()
})

const analysis: Analysis = {
  maxErrorRate: '5%',
  minRequests: 20,
  intervalSeconds: 5,
  failureLimit: 1,
  noTraffic: 'Wait',
  watchSeconds: 5,
}
const rollout = (more: Partial<Analysis> = {}): Rollout => ({
  strategy: 'canary',
  steps: [{ weight: 20 }],
  analysis: { ...analysis, ...more },
  autoRollback: true,
  progressDeadlineSeconds: 600,
})
const traffic = { provider: 'gateway', gateways: ['public'], hostnames: ['bert.example.com'] }

async function metricSource(t: TestContext, url: string) {
  const config = { ...defaultPrometheusConfig, url, rateSeconds: 10, refreshSeconds: 1, timeoutMs: 2_000 }
  const asked = await prometheusClient(config)
  const reader = new MetricReader({ client: asked, timeoutMs: config.timeoutMs, refreshMs: 1_000 })
  t.after(() => {
    reader.close()
    return asked.close()
  })
  return { reader, config }
}

const isAt =
  (revision: number, phase: string) =>
  ({ status }: ModelDeployment): boolean =>
    status?.rollout?.revision === revision && status.rollout.phase === phase
const messageOf = ({ status }: ModelDeployment): string => status?.rollout?.message ?? ''
const isWell = ({
  averageLatencyMs = 0,
  errorRate = 1,
  requestsPerSecond = 0,
}: ActiveVersion['metrics'] = {}): boolean =>
  Math.abs(averageLatencyMs - 5) < 1 && errorRate === 0 && requestsPerSecond > 10

test('rollouts behind a Gateway go on or back by what Prometheus has counted', { skip }, async (t) => {
  await installTrafficKinds(client, [HTTPRoute])
  const namespace = await ownNamespace(t, client, NS)
  const source = await metricSource(t, prometheus?.url ?? '')
  const fixture = servingFixture(t, { client, cluster, node: node.name }, { namespace, prometheus: source })
  const gateway = new FakeGateway(client, namespace)
  t.after(() => gateway.stop())
  const { create, change, becomes } = fixture
  await create({ versions: versions({ v1: 100 }), traffic, rollout: rollout() })
  const served = await becomes('counted', (model) => versionIn(model, 'v1').metrics?.averageLatencyMs)
  assert.deepEqual(
    [conditionOf(served, 'Metrics').status, conditionOf(served, 'Metrics').reason],
    ['True', 'Prometheus'],
    conditionOf(served, 'Metrics').message,
  )
  assert.ok(isWell(versionIn(served, 'v1').metrics), JSON.stringify(served.status))

  page.behaviours.set('v2', { errors: 20, latencyMs: 5 })
  await change({ versions: versions({ v2: 100 }) })
  const back = await becomes('rolled back', isAt(2, 'RolledBack'))
  assert.match(messageOf(back), /^Step 1 of 2 \(20 %\): errorRate of v2 is (19|2[01])[.\d]* %, above 5 %$/)
  await becomes('back at v1', (model) => weightsOf(model)['v1'] === 100)

  page.behaviours.set('v3', { errors: 0, latencyMs: 90 })
  await change({ versions: versions({ v3: 100 }), rollout: rollout({ maxLatencyP99Ms: 50 }) })
  const slow = await becomes('rolled back again', isAt(3, 'RolledBack'))
  assert.match(messageOf(slow), /latencyP99Ms of v3 is 99[.\d]* ms, above 50 ms/)

  const query = 'min(model_accuracy{model="{model}",version="{version}"})'
  const metrics = [{ name: 'accuracy', query, min: '0.9' }]
  await change({ versions: versions({ v4: 100 }), rollout: rollout({ maxLatencyP99Ms: 50, metrics }) })
  const good = await becomes('promoted', isAt(4, 'Completed'))
  assert.deepEqual(weightsOf(good), { v4: 100 })
})

test('no query of a user reads series of another namespace, whatever it is', { skip }, async () => {
  assert.ok(prometheus)
  await until('series', async () => (await prometheus.count('model_accuracy{namespace="other"}')) > 0)
  const pieces =
    'sum max by(namespace) (namespace) ( ) { } model_accuracy http_requests_total or and unless on(version) group_left offset 1m [1m] rate , = =~ != "other" ".*" namespace __name__ {namespace="other"} {namespace=~".+"} - + * == 1 vector(1) # @ : ` \' \\ sum(model_accuracy) count topk(1, absent( bool by without'.split(
      ' ',
    )
  const dice = new Dice(7)
  const whole = [
    'model_accuracy',
    'sum by (namespace) (model_accuracy)',
    'model_accuracy{namespace="other"}',
    '{namespace=~".+"}',
  ]
  let answered = 0
  for (let round = 0; round < 3_000; round += 1) {
    const random = Array.from({ length: 1 + dice.below(8) }, () => dice.of(pieces)).join(dice.is(0.5) ? ' ' : '')
    const query = whole[round] ?? random
    const scoped = scopedQuery(query, { namespace: NS })
    if (!('query' in scoped)) continue
    const found = await prometheus.labels(scoped.query)
    if (found) answered += 1
    for (const { namespace = NS } of found ?? []) assert.equal(namespace, NS, `${query} became ${scoped.query}`)
  }
  assert.ok(answered > 100, `${answered} queries were answered`)
})
