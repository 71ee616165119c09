/** Autoscaling by requests on a real API server: the numbers, and who sets them. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { VersionRates } from '../../src/api/router-report.ts'
import { CustomResourceDefinition, Deployment, HorizontalPodAutoscaler } from '../../src/kube/resources.ts'
import { versions } from '../builders/model-deployment.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { conditionOf, MODEL, servingFixture, versionIn } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const scaling = { minReplicas: 1, maxReplicas: 6, targetRequestsPerSecond: 10 }
const spec = { versions: versions({ v1: 100 }), traffic: { provider: 'router' }, scaling }

/** A model whose requests the test sets. */
async function setUp(t: TestContext) {
  const rates = new Map<string, VersionRates>()
  const fixture = servingFixture(
    t,
    { client, cluster, node: node.name },
    { namespace: await namespace(t), rates: { note: () => rates }, resyncMs: 500 },
  )
  const receives = (requestsPerSecond: number): void =>
    void rates.set('v1', { requestsPerSecond, concurrency: 0, proxies: 2 })
  const hasPods = (replicas: number) =>
    until(`${replicas} pods`, async () => {
      const { spec: own } = await fixture.get(Deployment, `${MODEL}-deployment`)
      return own?.replicas === replicas
    })
  return { ...fixture, receives, hasPods }
}

/** A kind of the group is enough for discovery: no adapter has to answer. */
async function provideMetricApi(t: TestContext): Promise<void> {
  const name = 'figures.custom.metrics.k8s.io'
  await client.create(CustomResourceDefinition, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } },
    spec: {
      group: 'custom.metrics.k8s.io',
      names: { kind: 'Figure', plural: 'figures' },
      scope: 'Namespaced',
      versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  t.after(() => client.delete(CustomResourceDefinition, { name }).catch(() => undefined))
}

describe('a model that is scaled by its requests', () => {
  test('grows with them, keeps its pods over a restart and while nothing reports, and has no autoscaler', async (t) => {
    const { create, receives, hasPods, becomes, emits, exists, get, restart, routers } = await setUp(t)
    receives(5)
    await create(spec)
    await exists(Deployment, `${MODEL}-deployment`)
    await becomes(
      'served by its router',
      ({ status }) => status?.traffic?.provider === 'router' && status.phase === 'Running',
    )
    receives(25)
    await hasPods(3)
    await emits('Rescaled')
    await assert.rejects(get(HorizontalPodAutoscaler, `${MODEL}-hpa`))
    receives(4)
    const falling = await becomes('about to shrink', (model) => versionIn(model, 'v1').autoscaling?.lower)
    assert.equal(versionIn(falling, 'v1').autoscaling?.lower?.[0]?.replicas, 1)
    await restart()
    routers.isUnreachable = true
    const blind = await becomes('without figures', (model) => conditionOf(model, 'Scaled').reason === 'LoadUnknown')
    assert.equal(versionIn(blind, 'v1').autoscaling?.replicas, 3)
    await hasPods(3)
    routers.isUnreachable = false
    receives(99)
    await hasPods(6)
    await becomes('scaled', (model) => conditionOf(model, 'Scaled').status === 'True')
  })

  test('is left to an autoscaler once the cluster has the API of its metrics, with one writer at a time', async (t) => {
    const { create, receives, hasPods, becomes, exists, disappears, audit } = await setUp(t)
    receives(25)
    await create(spec)
    await hasPods(3)
    await provideMetricApi(t)
    await exists(HorizontalPodAutoscaler, `${MODEL}-hpa`)
    await becomes('left to it', (model) => versionIn(model, 'v1').autoscaling === undefined)
    await hasPods(3)
    await audit.take()
    receives(60)
    const key = {
      namespace: (await exists(Deployment, `${MODEL}-deployment`)).metadata.namespace ?? '',
      name: `${MODEL}-deployment`,
    }
    await client.patch(Deployment, key, { spec: { replicas: 4 } })
    await becomes('at the number of the autoscaler', ({ status }) => status?.replicas === 4)
    await hasPods(4)
    await client.delete(CustomResourceDefinition, { name: 'figures.custom.metrics.k8s.io' })
    await disappears(HorizontalPodAutoscaler, `${MODEL}-hpa`)
    await hasPods(6)
  })
})
