/** A model that cannot serve says what is in its way, by name; and Ready never lies. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Deployment, type Pod } from '../../src/kube/resources.ts'
import { apiCluster } from '../api-cluster.ts'
import { namespace } from '../cluster.ts'
import { servingFate } from '../fake-routers.ts'
import { type Decide, fakeNode } from '../kubelet.ts'
import { type ModelSpecInput, servingRoleOf, versionOf, versions } from '../model-deployment.ts'
import { crashLooping, imageMissing, initFailing, unready } from '../pod-status.ts'
import { conditionOf, MODEL, servingStage, versionIn, weightsOf } from '../serving-stage.ts'

const { cluster, client, node } = await apiCluster()

async function stage(t: TestContext, decide: Decide = servingFate()) {
  return servingStage(t, { client, cluster, node: node.name }, { namespace: await namespace(t), decide })
}

/** Servers fare so; routers and validations as ever. */
const servers =
  (fate: Decide): Decide =>
  (pod, pods) =>
    servingRoleOf(pod) === 'server' ? fate(pod, pods) : servingFate()(pod)

interface Trouble {
  readonly what: string
  readonly fate: Decide
  readonly spec?: ModelSpecInput
  readonly reason: RegExp
  readonly message: RegExp
}

const fetched = { versions: [{ name: 'v1', weight: 100, modelPath: 's3://models/bert' }] }
const notFound = JSON.stringify({ reason: 'ArtifactNotFound', message: 's3://models/bert: there is no such object' })

const troubles: readonly Trouble[] = [
  {
    what: 'an image that cannot be pulled',
    fate: imageMissing,
    reason: /Image/,
    message: /example\.com\/server:1/,
  },
  {
    what: 'a model that is not where it should be',
    fate: (pod) => initFailing(pod, notFound),
    spec: fetched,
    reason: /ArtifactNotFound/,
    message: /no such object/,
  },
  { what: 'a server that crashes', fate: (pod) => crashLooping(pod, 3), reason: /Crash/, message: /3/ },
]

describe('what is in the way of a model', () => {
  for (const { what, fate, spec, reason, message } of troubles)
    test(`${what} is named, and Ready does not lie`, async (t) => {
      const { create, becomes, reaches, kubelet } = await stage(t, servers(fate))
      await create(spec)
      const troubled = await becomes('in trouble', (model) => reason.test(versionIn(model, 'v1').reason ?? ''))
      assert.match(versionIn(troubled, 'v1').message ?? '', message)
      assert.match(conditionOf(troubled, 'Ready').message ?? '', message)
      assert.equal(conditionOf(troubled, 'Ready').status, 'False')
      assert.notEqual(troubled.status?.phase, 'Running')
      kubelet.decide(servingFate())
      const healed = await reaches('Running')
      assert.equal(conditionOf(healed, 'Ready').status, 'True')
      assert.equal(versionIn(healed, 'v1').reason, undefined)
    })

  test('a quota that is used up', async (t) => {
    const { create, becomes, reaches, namespace: ns } = await stage(t)
    const quotas: Resource<KubeObject & { readonly spec: object }> = {
      group: '',
      version: 'v1',
      kind: 'ResourceQuota',
      plural: 'resourcequotas',
      namespaced: true,
    }
    const metadata = { namespace: ns, name: 'none' }
    const spec = { hard: { pods: '0' } }
    await client.create(quotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec })
    await create()
    const refused = await becomes('refused', (model) => /quota/.test(conditionOf(model, 'Ready').message ?? ''))
    assert.equal(conditionOf(refused, 'Ready').status, 'False')
    await client.delete(quotas, metadata)
    await reaches('Running')
  })

  test('GPUs that no node has', async (t) => {
    const taint = { key: 'gpu-test', effect: 'NoSchedule' }
    const roomy = await fakeNode(client, { taint, resources: { cpu: '8', memory: '32Gi', pods: '20' } })
    t.after(() => roomy.remove())
    const { create, becomes } = await stage(
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

  test('a validation that fails keeps its version from traffic, not the model', async (t) => {
    const failing = (pod: Pod) => (servingRoleOf(pod) === 'validation' && versionOf(pod) === 'v2' ? 1 : 0)
    const { create, change, becomes, reaches, deployments, operator } = await stage(t, (pod) =>
      servingFate(failing(pod))(pod),
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
  test('is not said of a server that has not loaded its model, and is taken back from one that has stopped', async (t) => {
    const { create, becomes, reaches, exists, kubelet } = await stage(t, servers(unready))
    await create()
    await exists(Deployment, `${MODEL}-deployment`)
    const waiting = await becomes('looked at', (model) => versionIn(model, 'v1').replicas === 1)
    assert.equal(conditionOf(waiting, 'Ready').status, 'False')
    kubelet.decide(servingFate())
    await reaches('Running')
    kubelet.decide(servers((pod) => crashLooping(pod, 137)))
    const broken = await becomes('not ready', (model) => conditionOf(model, 'Ready').status === 'False')
    assert.notEqual(broken.status?.phase, 'Running')
  })

  test('a version that is not ready gets nothing; its share stays where it was', async (t) => {
    const { create, change, becomes, reaches, kubelet } = await stage(t)
    await create({ traffic: { provider: 'router' } })
    await reaches('Running')
    kubelet.decide(servers((pod) => (versionOf(pod) === 'v2' ? unready(pod) : undefined)))
    await change({ versions: versions({ v1: 10, v2: 90 }) })
    const waiting = await becomes('waiting for v2', (model) => versionIn(model, 'v2').replicas === 1)
    assert.deepEqual(weightsOf(waiting), { v1: 100 })
    kubelet.decide(servingFate())
    await becomes('divided', (model) => weightsOf(model)['v2'] === 90)
  })
})
