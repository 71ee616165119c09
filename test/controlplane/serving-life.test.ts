/** The lifecycle of a model on a real API server, with a fake kubelet and fake routers. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { mlopsModelDeployments, modelDeployments } from '../../src/api/kinds.ts'
import type { Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { mlopsModel, servingRoleOf, versions } from '../builders/model-deployment.ts'
import {
  conditionOf,
  MODEL,
  servingFixture,
  type ServingSetup,
  versionIn,
  weightsOf,
  writesAfterRestart,
} from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

async function setUp(t: TestContext, setup: Omit<ServingSetup, 'namespace'> = {}) {
  return servingFixture(t, { client, cluster, node: node.name }, { namespace: await namespace(t), ...setup })
}

const router = { provider: 'router' }
const two = { versions: versions({ v1: 90, v2: 10 }), traffic: router }

describe('a ModelDeployment', () => {
  test('of one version is served directly by its pods, under the documented names', async (t) => {
    const { create, becomes, exists, deployments, namespace: ns } = await setUp(t)
    await create({ scaling: { minReplicas: 2, maxReplicas: 4 } })
    const running = await becomes('running with two pods', (model) => {
      // This cluster has no metrics, which the autoscaler reports after a while.
      const isScaled = conditionOf(model, 'Scaled').reason === 'AutoscalerInactive'
      return model.status?.phase === 'Running' && isScaled && versionIn(model, 'v1').healthyReplicas === 2
    })
    assert.match(conditionOf(running, 'Scaled').message ?? '', /^v1: the autoscaler bert-hpa does not scale: FailedGet/)
    assert.equal(running.status?.url, `http://${MODEL}-service.${ns}.svc:8080`)
    assert.equal(running.status?.traffic?.provider, 'direct')
    assert.deepEqual(weightsOf(running), { v1: 100 })
    assert.deepEqual(await deployments(), [`${MODEL}-deployment`])
    await exists(HorizontalPodAutoscaler, `${MODEL}-hpa`)
    const { spec, metadata } = await exists(Service, `${MODEL}-service`)
    assert.equal(spec?.ports?.[0]?.port, 8080)
    assert.equal(metadata.labels?.['app'], MODEL)
    assert.equal(metadata.ownerReferences?.[0]?.kind, 'ModelDeployment')
    for (const type of ['Ready', 'Healthy']) assert.equal(conditionOf(running, type).status, 'True', type)
    assert.equal(conditionOf(running, 'Progressing').status, 'False')
  })

  test('loses its autoscaler when the number of pods is fixed', async (t) => {
    const { create, change, reaches, exists, namespace: ns } = await setUp(t)
    await create({ scaling: { minReplicas: 1, maxReplicas: 3 } })
    await reaches('Running')
    await exists(HorizontalPodAutoscaler, `${MODEL}-hpa`)
    await change({ scaling: { minReplicas: 2, maxReplicas: 2 } })
    await until('the autoscaler to go', async () => {
      const { items } = await client.list(HorizontalPodAutoscaler, { namespace: ns })
      return items.length === 0
    })
  })

  test('of two versions is split by a router; new weights restart nothing', async (t) => {
    const { create, change, becomes, reaches, pods, routers, exists } = await setUp(t)
    await create(two)
    const running = await reaches('Running')
    assert.deepEqual(weightsOf(running), { v1: 90, v2: 10 })
    await exists(ConfigMap, `${MODEL}-router-envoy`)
    await exists(PodDisruptionBudget, `${MODEL}-router`)
    for (const name of [`${MODEL}-v1`, `${MODEL}-v2`]) await exists(Service, name)
    const uids = async () => new Set((await pods()).map(({ metadata }) => metadata.uid))
    const before = await uids()
    await change({ versions: versions({ v1: 50, v2: 50 }) })
    await becomes('split in halves', (model) => weightsOf(model)['v2'] === 50)
    const routing = (await pods()).filter((pod) => servingRoleOf(pod) === 'router')
    assert.equal(routing.length, 2)
    await until('every router to have the weights', () =>
      routing.every((pod) => routers.routeOf(pod).get('v2') === 50 && routers.routeOf(pod).get('v1') === 50),
    )
    assert.deepEqual(await uids(), before)
  })

  test('gets a second version without a restart of the first', async (t) => {
    const { create, change, reaches, becomes, pods, deployments } = await setUp(t)
    await create()
    await reaches('Running')
    const [first] = await pods()
    await change({ versions: versions({ v1: 90, v2: 10 }) })
    await becomes('split', (model) => weightsOf(model)['v2'] === 10)
    assert.deepEqual(await deployments(), [`${MODEL}-deployment`, `${MODEL}-router`, `${MODEL}-v2`])
    assert.ok((await pods()).some(({ metadata }) => metadata.uid === first?.metadata.uid))
  })

  test('removes a version only after every router has stopped sending to it, and a drain period', async (t) => {
    const { create, change, reaches, becomes, get, disappears, routers, operator } = await setUp(t, { drainSeconds: 2 })
    await create(two)
    await reaches('Running')
    routers.ignoresRoutes = true
    await change({ versions: versions({ v2: 100 }) })
    const since = await operator().passes()
    await until('some passes without new routes', async () => (await operator().passes()) > since + 3)
    await get(Deployment, `${MODEL}-v1`)
    routers.ignoresRoutes = false
    const drained = await becomes('without traffic for v1', (model) => versionIn(model, 'v1').idleSince)
    const idle = versionIn(drained, 'v1').idleSince ?? ''
    for (const kind of [Deployment, Service]) await disappears(kind, `${MODEL}-v1`)
    assert.ok(Date.now() - Date.parse(idle) >= 2_000, 'it was kept for the drain period')
    await becomes('without v1', (model) => versionIn(model, 'v1').name === undefined)
  })

  test('switches providers: direct, router, replicas, router, direct', async (t) => {
    const { create, change, reaches, becomes, disappears, get, exists } = await setUp(t)
    await create({ traffic: { provider: 'auto' } })
    await reaches('Running')
    const isInEffect = (provider: string) =>
      becomes(
        `routed by ${provider}`,
        ({ status }) => status?.traffic?.provider === provider && !status.traffic.previous,
      )
    await change({ traffic: router })
    await isInEffect('router')
    const { spec } = await get(Service, `${MODEL}-service`)
    assert.equal(spec?.selector?.['modeldeployment.ml.example.com/role'], 'router')
    await change({ traffic: { provider: 'replicas' } })
    await isInEffect('replicas')
    await disappears(Deployment, `${MODEL}-router`)
    await disappears(ConfigMap, `${MODEL}-router-envoy`)
    await change({ traffic: router })
    await isInEffect('router')
    await exists(Deployment, `${MODEL}-router`)
    await change({ traffic: { provider: 'auto' } })
    await isInEffect('direct')
    await disappears(Deployment, `${MODEL}-router`)
    await reaches('Running')
  })

  test('reports the traffic of its routers, by version and in total', async (t) => {
    const rates = new Map([
      ['v1', { requestsPerSecond: 90, averageLatencyMs: 20, errorRate: 0 }],
      ['v2', { requestsPerSecond: 10, averageLatencyMs: 120, errorRate: 0.1 }],
    ])
    const { create, becomes } = await setUp(t, { rates: { note: () => rates } })
    await create(two)
    const measured = await becomes('measured', (model) => versionIn(model, 'v2').metrics)
    assert.deepEqual(versionIn(measured, 'v2').metrics, rates.get('v2'))
    assert.deepEqual(measured.status?.metrics, { requestsPerSecond: 100, averageLatencyMs: 30, errorRate: 0.01 })
  })

  test('of the group mlops.sathvik.dev is served the same way', async (t) => {
    const { namespace: ns, exists, operator } = await setUp(t)
    await client.create(mlopsModelDeployments, mlopsModel(ns, 'dummy', { validateScript: 'validate.py' }))
    await until('it to run', async () => {
      const { status } = await client.get(mlopsModelDeployments, { namespace: ns, name: 'dummy' })
      return status?.phase === 'Running'
    })
    const { metadata } = await exists(Deployment, 'dummy-deployment')
    assert.equal(metadata.ownerReferences?.[0]?.apiVersion, 'mlops.sathvik.dev/v1')
    const service = await exists(Service, 'dummy-service')
    assert.equal(service.spec?.ports?.[0]?.port, 8000)
    await client.delete(Service, { namespace: ns, name: 'dummy-service' })
    await until('it to be back', async () => {
      const { metadata: other } = await exists(Service, 'dummy-service')
      return other.uid !== service.metadata.uid
    })
    const metrics = await operator().manager.metrics.registry.metrics()
    assert.match(metrics, /model_deployments_created_total 1/)
    assert.match(metrics, /model_validations_total\{status="succeeded"\} 1/)
  })

  test('leaves nothing when deleted, and a new one of the same name starts without a conflict', async (t) => {
    const { create, reaches, key, namespace: ns, model, events } = await setUp(t)
    const { metadata } = await create(two)
    await reaches('Running')
    await client.delete(modelDeployments, key)
    const again = await create(two)
    assert.notEqual(again.metadata.uid, metadata.uid)
    await reaches('Running')
    assert.deepEqual(conditionOf(await model(), 'Conflict'), {})
    await client.delete(modelDeployments, key)
    const kinds: readonly Resource[] = [
      Deployment,
      Service,
      ConfigMap,
      HorizontalPodAutoscaler,
      PodDisruptionBudget,
      Job,
      Pod,
    ]
    for (const kind of kinds)
      await until(`no ${kind.kind}`, async () => {
        const { items } = await client.list(kind, { namespace: ns, labelSelector: `app=${MODEL}` })
        return items.length === 0
      })
    assert.ok((await events()).every(({ reason }) => reason !== 'Conflict'))
  })

  test('costs no write once it has converged, also after a restart of the operator', async (t) => {
    const fixture = await setUp(t, { resyncMs: 200 })
    const { create, reaches } = fixture
    await create({
      ...two,
      scaling: { minReplicas: 2, maxReplicas: 2 },
      validation: { script: 'x.py', timeoutSeconds: 9 },
    })
    await reaches('Running')
    assert.deepEqual(await writesAfterRestart(fixture), [])
  })
})
