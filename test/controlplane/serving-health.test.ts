/** Pods that fail their health check are evicted and replaced; the last ready one is left. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Pod } from '../../src/kube/resources.ts'
import { isPodReady } from '../../src/plan/pod-ready.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { FakeHealth } from '../fakes/pod-health.ts'
import { conditionOf, servingFixture, versionIn } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const often = { endpoint: '/health', intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 3 }
const ofSize = (replicas: number) => ({
  healthCheck: often,
  scaling: { minReplicas: replicas, maxReplicas: replicas },
})

async function setUp(t: TestContext, replicas: number) {
  const health = new FakeHealth()
  const healthChecks = health.start()
  t.after(() => healthChecks.close())
  const at = { namespace: await namespace(t), healthChecks }
  const fixture = servingFixture(t, { client, cluster, node: node.name }, at)
  await fixture.create(ofSize(replicas))
  await fixture.becomes('healthy', (model) => conditionOf(model, 'Healthy').status === 'True')
  // Each pod passes a check before it falls ill.
  await until('checks of all pods', () => health.checks >= 2 * replicas)
  return { ...fixture, health }
}

const evictions = (calls: readonly string[]): string[] => calls.filter((call) => call.includes('eviction'))
const isLive = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined

test('a pod that answers 500 is evicted and replaced, with an event', async (t) => {
  const { health, pods, becomes, emits, audit } = await setUp(t, 2)
  const [sick, other] = await pods()
  assert.ok(sick && other)
  health.fail(sick.metadata.uid ?? '')
  const model = await becomes('without the sick pod', (found) => versionIn(found, 'v1').health?.evictions === 1)
  assert.equal(versionIn(model, 'v1').health?.evicting, undefined)
  const { note = '' } = await emits('PodEvicted')
  assert.match(note, new RegExp(`^v1: evicted pod ${sick.metadata.name}: /health answered HTTP 500, at least 3 times`))
  const live = await until('two ready pods', async () => {
    const found = (await pods()).filter((pod) => isLive(pod) && isPodReady(pod))
    return found.length === 2 ? found : undefined
  })
  assert.ok(!live.some(({ metadata }) => metadata.uid === sick.metadata.uid))
  assert.ok(live.some(({ metadata }) => metadata.uid === other.metadata.uid))
  const healthy = await becomes('healthy again', (found) => conditionOf(found, 'Healthy').status === 'True')
  assert.equal(conditionOf(healthy, 'Healthy').message, '2 of 2 pods are healthy')
  assert.equal(evictions(await audit.take()).length, 1)
})

test('with all pods sick the last one is left, and the model is Degraded with the reason', async (t) => {
  const { health, reaches, pods, audit } = await setUp(t, 1)
  const [only] = await pods()
  health.isEveryPodSick = true
  const model = await reaches('Degraded')
  const { reason, message } = versionIn(model, 'v1')
  assert.equal(reason, 'HealthCheckFailing')
  assert.match(message ?? '', /answered HTTP 500, at least 3 times in a row\); the last ready pod stays until another/)
  const { status, message: said } = conditionOf(model, 'Healthy')
  assert.deepEqual([status, said?.slice(0, 22)], ['False', '0 of 1 pod is healthy:'])
  const before = health.checks
  await until('five more checks', () => health.checks >= before + 5)
  assert.deepEqual(
    (await pods()).filter(isLive).map(({ metadata }) => metadata.uid),
    [only?.metadata.uid],
  )
  assert.deepEqual(evictions(await audit.take()), [])
})

test('pods that the operator cannot reach are left alone, and the condition says so', async (t) => {
  const { health, becomes, audit } = await setUp(t, 2)
  health.isUnreachable = true
  const model = await becomes('unreachable', (found) => versionIn(found, 'v1').health?.unreachable === 2)
  const { status, message } = conditionOf(model, 'Healthy')
  assert.equal(status, 'True')
  assert.match(message ?? '', /^2 of 2 pods are healthy; the operator cannot connect to 2 pods/)
  assert.equal(model.status?.phase, 'Running')
  assert.deepEqual(evictions(await audit.take()), [])
})
