/** What the cluster has to divide traffic with comes and goes while models are served. On a cluster of its own. */
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { Deployment, Service } from '../../src/kube/resources.ts'
import { backendsOf, DestinationRule, destinationsOf, HTTPRoute, VirtualService } from '../../src/plan/traffic/kinds.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { installApi } from '../api.ts'
import { FakeGateway } from '../fake-gateway.ts'
import { type FakeNode, fakeNode } from '../kubelet.ts'
import { versions } from '../model-deployment.ts'
import { MODEL, ownNamespace, servingStage, type ServingStage, weightsOf, writesAfterRest } from '../serving-stage.ts'
import { installTrafficKinds } from '../traffic-kinds.ts'
import { until } from '../until.ts'

let plane: ControlPlane
let cluster: ClientConfig
let client: Client
let node: FakeNode

before(async () => {
  plane = await startControlPlane()
  cluster = await configFromKubeconfig(plane.kubeconfig)
  client = createClient(cluster)
  await installApi(client)
  node = await fakeNode(client)
})

after(async () => {
  await node?.remove()
  await client?.close()
  await plane?.stop()
})

async function stage(t: TestContext, name: string): Promise<ServingStage> {
  const namespace = await ownNamespace(t, client, name)
  return servingStage(t, { client, cluster, node: node.name }, { namespace, resyncMs: 200 })
}

const led = ({ becomes }: ServingStage, provider: string, weights: Readonly<Record<string, number>>) =>
  becomes(`divided ${JSON.stringify(weights)} by ${provider}`, (model) => {
    const { traffic } = model.status ?? {}
    const isDivided = JSON.stringify(weightsOf(model)) === JSON.stringify(weights)
    return traffic?.provider === provider && traffic.previous === undefined && isDivided
  })

const subsetsOf = (service: VirtualService) =>
  Object.fromEntries(destinationsOf(service).map(({ destination, weight }) => [destination.subset, weight]))

const servicesOf = (route: HTTPRoute) => Object.fromEntries(backendsOf(route).map(({ name, weight }) => [name, weight]))

/** Whoever edits or deletes it: it comes back. */
async function comesBack(resource: Resource, key: { namespace: string; name: string }, edit: object): Promise<void> {
  const intact = await client.get(resource, key)
  const specOf = (object: KubeObject): string => JSON.stringify((object as KubeObject & { spec: unknown }).spec)
  await client.patch(resource, key, edit)
  await until(`${resource.kind} to be repaired`, async () => specOf(await client.get(resource, key)) === specOf(intact))
  await client.delete(resource, keyOf(intact))
  await until(`${resource.kind} to be back`, async () => specOf(await client.get(resource, key)) === specOf(intact))
}

describe('what divides the traffic', () => {
  test('auto: a router where there is nothing else; Istio as soon as it is there, without a restart', async (t) => {
    const scene = await stage(t, 'istio')
    const { create, change, get, isGone, namespace: ns } = scene
    await create({ versions: versions({ v1: 90, v2: 10 }) })
    await led(scene, 'router', { v1: 90, v2: 10 })
    await installTrafficKinds(client, [VirtualService, DestinationRule])
    await led(scene, 'istio', { v1: 90, v2: 10 })
    assert.deepEqual(subsetsOf(await get(VirtualService, `${MODEL}-vs`)), { v1: 90, v2: 10 })
    await isGone(Deployment, `${MODEL}-router`)
    await change({ versions: versions({ v1: 25, v2: 75 }) })
    await led(scene, 'istio', { v1: 25, v2: 75 })
    const routed = await get(VirtualService, `${MODEL}-vs`)
    assert.deepEqual(subsetsOf(routed), { v1: 25, v2: 75 })
    assert.deepEqual(await writesAfterRest(scene), [])
    const stolen = [{ route: [{ destination: { host: 'elsewhere' } }] }, ...(routed.spec.http ?? [])]
    for (const spec of [{ hosts: ['elsewhere'] }, { http: null }, { http: [{}] }, { http: stolen }])
      await comesBack(VirtualService, { namespace: ns, name: `${MODEL}-vs` }, { spec })
    for (const spec of [{ host: 'elsewhere' }, { subsets: null }])
      await comesBack(DestinationRule, { namespace: ns, name: `${MODEL}-vs` }, { spec })
    await change({ versions: versions({ v2: 100 }) })
    await isGone(Deployment, `${MODEL}-v1`)
    await change({ traffic: { provider: 'router' } })
    await led(scene, 'router', { v2: 100 })
    await isGone(VirtualService, `${MODEL}-vs`)
    await isGone(DestinationRule, `${MODEL}-vs`)
  })

  test('gateway: said to be missing, then taken up by it, then left again', async (t) => {
    const scene = await stage(t, 'gateway')
    const { create, change, get, becomes, isGone, namespace: ns } = scene
    const traffic = { provider: 'gateway', gateways: ['public'], hostnames: ['bert.example.com'] }
    await create({ versions: versions({ v1: 60, v2: 40 }), traffic })
    await becomes('waiting for the Gateway API', ({ status }) => /gateway/i.test(JSON.stringify(status?.conditions)))
    await installTrafficKinds(client, [HTTPRoute])
    const gateway = new FakeGateway(client, ns)
    t.after(() => gateway.stop())
    await led(scene, 'gateway', { v1: 60, v2: 40 })
    assert.deepEqual(servicesOf(await get(HTTPRoute, MODEL)), { [`${MODEL}-v1`]: 60, [`${MODEL}-v2`]: 40 })
    assert.deepEqual(await writesAfterRest(scene), [])
    const [rule] = (await get(HTTPRoute, MODEL)).spec.rules ?? []
    const stolen = [{ backendRefs: [...(rule?.backendRefs ?? []), { name: 'elsewhere', port: 80, weight: 900 }] }]
    for (const spec of [{ hostnames: ['elsewhere.example.com'] }, { rules: null, parentRefs: null }, { rules: stolen }])
      await comesBack(HTTPRoute, { namespace: ns, name: MODEL }, { spec })
    await change({ versions: versions({ v1: 0, v2: 100 }) })
    await led(scene, 'gateway', { v2: 100 })
    await change({ traffic: { provider: 'replicas', gateways: null, hostnames: null } })
    await led(scene, 'replicas', { v2: 100 })
    await isGone(HTTPRoute, MODEL)
  })

  test('routes of others are left alone, and the model says whose they are', async (t) => {
    const scene = await stage(t, 'foreign')
    const { create, becomes, change, get, namespace: ns } = scene
    const spec = { hosts: ['x'], host: 'x' }
    const foreign: readonly (readonly [Resource, string, string])[] = [
      [VirtualService, `${MODEL}-vs`, 'istio'],
      [DestinationRule, `${MODEL}-vs`, 'istio'],
      [HTTPRoute, MODEL, 'gateway'],
    ]
    for (const [resource, name] of foreign) {
      const object = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { namespace: ns, name },
        spec,
      }
      await client.create(resource, object)
    }
    await create({ versions: versions({ v1: 50, v2: 50 }) })
    for (const [resource, name, provider] of foreign) {
      await change({ traffic: { provider, ...(provider === 'gateway' && { gateways: ['public'] }) } })
      await becomes(`in conflict over ${resource.kind}`, ({ status }) =>
        status?.conditions?.some(
          ({ type, message }) => type === 'Conflict' && message.includes(`${resource.kind}/${name}`),
        ),
      )
      assert.equal((await get(resource, name)).metadata.ownerReferences, undefined)
    }
  })

  test('replicas: the number of pods follows the weights', async (t) => {
    const scene = await stage(t, 'replicas')
    const { create, change, get } = scene
    const scaling = { minReplicas: 4, maxReplicas: 4 }
    await create({ versions: versions({ v1: 75, v2: 25 }), scaling, traffic: { provider: 'replicas' } })
    await led(scene, 'replicas', { v1: 75, v2: 25 })
    const replicas = async () =>
      Promise.all(['v1', 'v2'].map(async (version) => (await get(Deployment, `${MODEL}-${version}`)).spec?.replicas))
    assert.deepEqual(await replicas(), [3, 1])
    const { spec } = await get(Service, `${MODEL}-service`)
    assert.equal(spec?.selector?.['modeldeployment.ml.example.com/version'], undefined)
    await change({ versions: versions({ v1: 25, v2: 75 }) })
    await until('the other way round', async () => (await replicas()).join() === '1,3')
  })
})
