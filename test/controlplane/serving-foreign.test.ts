/** Objects of other owners with the names of children are not changed. A ModelServer of the namespace replaces the built-in one. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelServers } from '../../src/api/kinds.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import { apiVersionOf, type Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { versions } from '../builders/model-deployment.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { conditionOf, MODEL, servingFixture, weightsOf } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

async function setUp(t: TestContext) {
  return servingFixture(t, { client, cluster, node: node.name }, { namespace: await namespace(t) })
}

const foreignPodSpec = { containers: [{ name: 'x', image: 'example.com/x' }] }
const foreignLabels = { app: 'mine' }
const foreignSelector = { matchLabels: foreignLabels }
const foreignTemplate = { metadata: { labels: foreignLabels }, spec: foreignPodSpec }
const foreignTarget = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'mine' }
const foreignClaim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

/** Objects with the names of children, in the order in which the children are applied. */
const foreignObjects: readonly (readonly [Resource, string, object])[] = [
  [PersistentVolumeClaim, `${MODEL}-models`, { spec: foreignClaim }],
  [Deployment, `${MODEL}-v1`, { spec: { replicas: 0, selector: foreignSelector, template: foreignTemplate } }],
  [HorizontalPodAutoscaler, `${MODEL}-v1`, { spec: { scaleTargetRef: foreignTarget, maxReplicas: 1 } }],
  [PodDisruptionBudget, `${MODEL}-v1`, { spec: { selector: foreignSelector, maxUnavailable: 1 } }],
  [ConfigMap, `${MODEL}-router-envoy`, {}],
]

describe('objects of other owners', () => {
  test('are not touched, are reported as a conflict, and are noticed when they are deleted', async (t) => {
    const { create, becomes, reaches, get, emits, namespace: ns } = await setUp(t)
    const name = `${MODEL}-service`
    const spec = { selector: { app: 'mine' }, ports: [{ port: 80 }] }
    const foreign = await client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: ns, name },
      spec,
    })
    await create()
    const conflicted = await becomes('in conflict', (model) => conditionOf(model, 'Conflict').status === 'True')
    assert.match(conditionOf(conflicted, 'Conflict').message ?? '', /Service\/bert-service/)
    assert.notEqual(conditionOf(conflicted, 'Ready').status, 'True')
    await emits('Conflict')
    assert.equal((await get(Service, name)).metadata.resourceVersion, foreign.metadata.resourceVersion)
    await client.delete(Service, { namespace: ns, name })
    await reaches('Running')
  })

  test('are not touched, whatever their kind', async (t) => {
    const { create, becomes, get, namespace: ns } = await setUp(t)
    const before = new Map<string, string | undefined>()
    for (const [resource, name, body] of foreignObjects) {
      const object = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { namespace: ns, name },
        ...body,
      }
      before.set(`${resource.kind}/${name}`, (await client.create(resource, object)).metadata.uid)
    }
    const fetched = versions({ v1: 50, v2: 50 }).map((one) => ({ ...one, modelPath: 's3://models/bert' }))
    await create({
      traffic: { provider: 'router' },
      scaling: { minReplicas: 2, maxReplicas: 4 },
      versions: fetched,
      storage: { size: '1Gi' } as never,
    })
    for (const [resource, name] of foreignObjects) {
      const conflicted = await becomes(`in conflict over ${resource.kind}`, (model) =>
        conditionOf(model, 'Conflict').message?.startsWith(`${resource.kind}/${name} `),
      )
      assert.notEqual(conditionOf(conflicted, 'Ready').status, 'True')
      const { metadata } = await get(resource, name)
      assert.deepEqual([metadata.uid, metadata.ownerReferences], [before.get(`${resource.kind}/${name}`), undefined])
      await client.delete(resource, { namespace: ns, name })
    }
  })

  test('prefers a ModelServer of the namespace over the built-in one, and rolls out its changes', async (t) => {
    const { create, reaches, get, namespace: ns } = await setUp(t)
    const server = (image: string): ModelServer =>
      ({
        apiVersion: 'ml.example.com/v1',
        kind: 'ModelServer',
        metadata: { namespace: ns, name: 'triton' },
        spec: { image, port: 9000 },
      }) as unknown as ModelServer
    await client.create(modelServers, server('example.com/own-triton:1'))
    await create({ runtime: 'triton', image: undefined as never })
    await reaches('Running')
    const images = async () =>
      (await get(Deployment, `${MODEL}-deployment`)).spec?.template?.spec?.containers?.map(({ image }) => image)
    assert.deepEqual(await images(), ['example.com/own-triton:1'])
    assert.equal((await get(Service, `${MODEL}-service`)).spec?.ports?.[0]?.port, 9000)
    await client.patch(modelServers, { namespace: ns, name: 'triton' }, { spec: { image: 'example.com/own-triton:2' } })
    await until('the new image', async () => (await images())?.[0] === 'example.com/own-triton:2')
    const served = await reaches('Running')
    assert.deepEqual(weightsOf(served), { v1: 100 })
  })
})
