/** A model that cannot serve reports the cause, and is not Ready. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Deployment, type Pod } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { createPodQuota, resourceQuotas } from '../cluster/quota.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { servingOutcome } from '../fakes/routers.ts'
import { type Decide, fakeNode } from '../fakes/kubelet.ts'
import { type ModelSpecInput, servingRoleOf, versionOf, versions } from '../builders/model-deployment.ts'
import { crashLooping, imageMissing, initFailing, unready } from '../fakes/pod-status.ts'
import { conditionOf, MODEL, servingFixture, versionIn, weightsOf } from '../fixtures/serving.ts'

const { cluster, client, node } = await apiCluster()

async function setUp(t: TestContext, decide: Decide = servingOutcome()) {
  return servingFixture(t, { client, cluster, node: node.name }, { namespace: await namespace(t), decide })
}

/** Applies `decide` to servers; routers and validations are healthy. */
const servers =
  (decide: Decide): Decide =>
  (pod, pods) =>
    servingRoleOf(pod) === 'server' ? decide(pod, pods) : servingOutcome()(pod)

interface Failure {
  readonly what: string
  readonly decide: Decide
  readonly spec?: ModelSpecInput
  readonly reason: RegExp
  readonly message: RegExp
}

const fetched = { versions: [{ name: 'v1', weight: 100, modelPath: 's3://models/bert' }] }
const notFound = JSON.stringify({ reason: 'ArtifactNotFound', message: 's3://models/bert: there is no such object' })

const failures: readonly Failure[] = [
  {
    what: 'an image that cannot be pulled',
    decide: imageMissing,
    reason: /Image/,
    message: /example\.com\/server:1/,
  },
  {
    what: 'a model that does not exist',
    decide: (pod) => initFailing(pod, notFound),
    spec: fetched,
    reason: /ArtifactNotFound/,
    message: /no such object/,
  },
  { what: 'a server that crashes', decide: (pod) => crashLooping(pod, 3), reason: /Crash/, message: /3/ },
]

describe('a ModelDeployment that cannot serve reports', () => {
  for (const { what, decide, spec, reason, message } of failures)
    test(`${what}, and is not Ready`, async (t) => {
      const { create, becomes, reaches, kubelet } = await setUp(t, servers(decide))
      await create(spec)
      const failing = await becomes('failing', (model) => reason.test(versionIn(model, 'v1').reason ?? ''))
      assert.match(versionIn(failing, 'v1').message ?? '', message)
      assert.match(conditionOf(failing, 'Ready').message ?? '', message)
      assert.equal(conditionOf(failing, 'Ready').status, 'False')
      assert.notEqual(failing.status?.phase, 'Running')
      kubelet.decide(servingOutcome())
      const recovered = await reaches('Running')
      assert.equal(conditionOf(recovered, 'Ready').status, 'True')
      assert.equal(versionIn(recovered, 'v1').reason, undefined)
    })

  test('an exceeded quota', async (t) => {
    const { create, becomes, reaches, namespace: ns } = await setUp(t)
    const quota = await createPodQuota(client, ns, 0)
    await create()
    const rejected = await becomes('rejected', (model) => /quota/.test(conditionOf(model, 'Ready').message ?? ''))
    assert.equal(conditionOf(rejected, 'Ready').status, 'False')
    await client.delete(resourceQuotas, quota)
    await reaches('Running')
  })

  test('GPUs that no node has', async (t) => {
    const taint = { key: 'gpu-test', effect: 'NoSchedule' }
    const largeNode = await fakeNode(client, { taint, resources: { cpu: '8', memory: '32Gi', pods: '20' } })
    t.after(() => largeNode.remove())
    const { create, becomes } = await setUp(
      t,
      servers(() => 'unscheduled'),
    )
    await create({
      resources: { requests: { cpu: '1' }, limits: { 'nvidia.com/gpu': '1' } },
      scheduling: { tolerations: [{ key: 'gpu-test', operator: 'Exists' }] },
    })
    const waiting = await becomes('without a node', (model) =>
      /nvidia\.com\/gpu/.test(conditionOf(model, 'Ready').message ?? ''),
    )
    assert.equal(conditionOf(waiting, 'Ready').status, 'False')
  })

  test('a failed validation, which keeps its version from traffic, not the model', async (t) => {
    const failing = (pod: Pod) => (servingRoleOf(pod) === 'validation' && versionOf(pod) === 'v2' ? 1 : 0)
    const { create, change, becomes, reaches, deployments, operator } = await setUp(t, (pod) =>
      servingOutcome(failing(pod))(pod),
    )
    const validation = { script: 'validate.py', timeoutSeconds: 60 }
    await create({ validation, traffic: { provider: 'router' } })
    await reaches('Running')
    await change({ versions: versions({ v1: 50, v2: 50 }) })
    const blocked = await becomes('blocked', (model) => versionIn(model, 'v2').reason === 'ValidationFailed')
    assert.deepEqual(weightsOf(blocked), { v1: 100 })
    assert.match(versionIn(blocked, 'v2').message ?? '', /validat/i)
    assert.ok(!(await deployments()).includes(`${MODEL}-v2`))
    const metrics = await operator().manager.metrics.registry.metrics()
    assert.match(metrics, /model_validations_total\{status="failed"\} 1/)
  })
})

describe('Ready', () => {
  test('is False until the server has loaded its model, and after it has stopped', async (t) => {
    const { create, becomes, reaches, exists, kubelet } = await setUp(t, servers(unready))
    await create()
    await exists(Deployment, `${MODEL}-deployment`)
    const waiting = await becomes('reported', (model) => versionIn(model, 'v1').replicas === 1)
    assert.equal(conditionOf(waiting, 'Ready').status, 'False')
    kubelet.decide(servingOutcome())
    await reaches('Running')
    kubelet.decide(servers((pod) => crashLooping(pod, 137)))
    const broken = await becomes('not ready', (model) => conditionOf(model, 'Ready').status === 'False')
    assert.notEqual(broken.status?.phase, 'Running')
  })

  test('gives no weight to a version that is not ready, and keeps the previous weights', async (t) => {
    const { create, change, becomes, reaches, kubelet } = await setUp(t)
    await create({ traffic: { provider: 'router' } })
    await reaches('Running')
    kubelet.decide(servers((pod) => (versionOf(pod) === 'v2' ? unready(pod) : undefined)))
    await change({ versions: versions({ v1: 10, v2: 90 }) })
    const waiting = await becomes('waiting for v2', (model) => versionIn(model, 'v2').replicas === 1)
    assert.deepEqual(weightsOf(waiting), { v1: 100 })
    kubelet.decide(servingOutcome())
    await becomes('split', (model) => weightsOf(model)['v2'] === 90)
  })
})
