/** Whoever changes or deletes what belongs to a model: it comes back. What belongs to others is left alone. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelDeployments, modelServers } from '../../src/api/kinds.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { drift } from '../../src/runtime/intent.ts'
import { apiCluster } from '../api-cluster.ts'
import { namespace } from '../cluster.ts'
import { versions } from '../model-deployment.ts'
import { conditionOf, MODEL, servingStage, type ServingSetup, versionIn, weightsOf } from '../serving-stage.ts'
import { until } from '../until.ts'

const { cluster, client, node } = await apiCluster()

async function stage(t: TestContext, setup: Omit<ServingSetup, 'namespace'> = {}) {
  return servingStage(t, { client, cluster, node: node.name }, { namespace: await namespace(t), ...setup })
}

const everything = {
  versions: versions({ v1: 90, v2: 10 }),
  traffic: { provider: 'router' },
  scaling: { minReplicas: 2, maxReplicas: 4 },
  validation: { script: 'validate.py', timeoutSeconds: 60 },
}

interface Drift {
  readonly resource: Resource
  readonly name: string
  /** What somebody else puts there. */
  readonly edit: object
}

const drifts: readonly Drift[] = [
  {
    resource: Deployment,
    name: `${MODEL}-v2`,
    edit: { spec: { template: { metadata: { labels: { app: 'another' } } } } },
  },
  { resource: Deployment, name: `${MODEL}-router`, edit: { spec: { replicas: 1 } } },
  { resource: Service, name: `${MODEL}-service`, edit: { spec: { selector: { app: 'another' } } } },
  { resource: Service, name: `${MODEL}-v1`, edit: { metadata: { labels: { app: 'another' } } } },
  { resource: HorizontalPodAutoscaler, name: `${MODEL}-v1`, edit: { spec: { maxReplicas: 40 } } },
  { resource: PodDisruptionBudget, name: `${MODEL}-v1`, edit: { metadata: { labels: { app: null } } } },
  { resource: ConfigMap, name: `${MODEL}-router`, edit: { data: { 'haproxy.cfg': 'global' } } },
]

/** As it was, but for what the server gives to each and what an autoscaler decides. */
function isAsBefore(now: KubeObject, before: KubeObject & { readonly spec?: object }): boolean {
  const { name, namespace: ns = '', labels = {}, ownerReferences = [] } = before.metadata
  const spec = before.spec && { ...before.spec, replicas: undefined, clusterIP: undefined, clusterIPs: undefined }
  const intended = { ...before, metadata: { name, namespace: ns, labels, ownerReferences }, spec, status: undefined }
  return drift(JSON.parse(JSON.stringify(intended)), now).length === 0
}

describe('what belongs to a model', () => {
  test('comes back, edited or deleted, within seconds', async (t) => {
    const { create, reaches, get } = await stage(t)
    await create(everything)
    await reaches('Running')
    let slowest = 0
    for (const { resource, name, edit } of drifts) {
      const before = await get(resource, name)
      const repaired = async (what: string, isRepaired: (now: KubeObject) => boolean): Promise<void> => {
        const began = performance.now()
        await until(`${resource.kind}/${name} to be repaired after ${what}`, async () =>
          isRepaired(await get(resource, name)),
        )
        slowest = Math.max(slowest, performance.now() - began)
      }
      await client.patch(resource, keyOf(before), edit)
      await repaired('an edit', (now) => isAsBefore(now, before))
      await client.delete(resource, keyOf(before), { propagationPolicy: 'Background' })
      await repaired('a deletion', (now) => now.metadata.uid !== before.metadata.uid && isAsBefore(now, before))
    }
    t.diagnostic(`${drifts.length * 2} repairs, the slowest took ${slowest.toFixed(0)} ms`)
    await reaches('Running')
  })

  test('a validation that has passed is not repeated because somebody cleans up', async (t) => {
    const { create, reaches, rests, namespace: ns } = await stage(t, { resyncMs: 200 })
    await create({ validation: { script: 'validate.py', timeoutSeconds: 60 } })
    await reaches('Running')
    for (const { metadata } of (await client.list(Job, { namespace: ns })).items)
      await client.delete(Job, { namespace: ns, name: metadata.name }, { propagationPolicy: 'Background' })
    await rests()
    await reaches('Running')
    assert.deepEqual((await client.list(Job, { namespace: ns })).items, [])
  })

  test('the number of pods under an autoscaler is left to it', async (t) => {
    const { create, reaches, becomes, change, get, namespace: ns } = await stage(t)
    await create({ scaling: { minReplicas: 1, maxReplicas: 6 } })
    await reaches('Running')
    const name = `${MODEL}-deployment`
    await client.patch(Deployment, { namespace: ns, name }, { spec: { replicas: 4 } })
    await becomes('of four pods', (model) => versionIn(model, 'v1').healthyReplicas === 4)
    await change({ image: 'example.com/server:2' })
    await until('the new image', async () => {
      const { spec } = await get(Deployment, name)
      return spec?.template?.spec?.containers?.some(({ image }) => image === 'example.com/server:2')
    })
    assert.equal((await get(Deployment, name)).spec?.replicas, 4)
  })
})

describe('what belongs to others', () => {
  test('is left alone and named, and taken into account when it goes', async (t) => {
    const { create, becomes, reaches, get, says, key, namespace: ns } = await stage(t)
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
    await says('Conflict')
    assert.equal((await get(Service, name)).metadata.resourceVersion, foreign.metadata.resourceVersion)
    await client.delete(Service, { namespace: ns, name })
    // Nobody watches what is not ours; a change of the model is a reason to look again before the minute is over.
    await client.patch(modelDeployments, key, { metadata: { annotations: { 'example.com/look': 'again' } } })
    await reaches('Running')
  })

  test('whatever its kind: nothing that stands under a name of the model is touched', async (t) => {
    const { create, becomes, get, namespace: ns } = await stage(t)
    const podSpec = { containers: [{ name: 'x', image: 'example.com/x' }] }
    const labels = { app: 'mine' }
    const template = { metadata: { labels }, spec: podSpec }
    const selector = { matchLabels: labels }
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'mine' }
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const foreign: readonly (readonly [Resource, string, object])[] = [
      [Deployment, `${MODEL}-v1`, { spec: { replicas: 0, selector, template } }],
      [HorizontalPodAutoscaler, `${MODEL}-v1`, { spec: { scaleTargetRef, maxReplicas: 1 } }],
      [PodDisruptionBudget, `${MODEL}-v1`, { spec: { selector, maxUnavailable: 1 } }],
      [ConfigMap, `${MODEL}-router`, {}],
      [PersistentVolumeClaim, `${MODEL}-models`, { spec: claim }],
    ]
    const before = new Map<string, string | undefined>()
    for (const [resource, name, body] of foreign) {
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
      ...everything,
      validation: undefined as never,
      versions: fetched,
      storage: { size: '1Gi' } as never,
    })
    const conflicted = await becomes('in conflict with all of them', (model) => {
      const { message = '' } = conditionOf(model, 'Conflict')
      return [...before.keys()].every((name) => message.includes(name))
    })
    assert.notEqual(conditionOf(conflicted, 'Ready').status, 'True')
    for (const [resource, name] of foreign) {
      const { metadata } = await get(resource, name)
      assert.deepEqual([metadata.uid, metadata.ownerReferences], [before.get(`${resource.kind}/${name}`), undefined])
    }
  })

  test('a ModelServer of the namespace wins over the built-in one, and its change rolls the models', async (t) => {
    const { create, reaches, get, namespace: ns } = await stage(t)
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
