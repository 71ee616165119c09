/** Traffic providers are installed and removed while models are served. On a cluster of its own. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition, Deployment, Service } from '../../src/kube/resources.ts'
import { ROLE_LABEL } from '../../src/plan/model-names.ts'
import { backendsOf, HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { DestinationRule, destinationsOf, VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { FakeGateway } from '../fakes/gateway.ts'
import { versions } from '../builders/model-deployment.ts'
import {
  MODEL,
  ownNamespace,
  servingFixture,
  type ServingFixture,
  weightsOf,
  writesAfterRestart,
} from '../fixtures/serving.ts'
import { installTrafficKinds } from '../cluster/traffic-crds.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await ownCluster()

async function setUp(t: TestContext, name: string): Promise<ServingFixture> {
  const namespace = await ownNamespace(t, client, name)
  return servingFixture(t, { client, cluster, node: node.name }, { namespace, resyncMs: 200 })
}

const isInEffect = ({ becomes }: ServingFixture, provider: string, weights: Readonly<Record<string, number>>) =>
  becomes(`split ${JSON.stringify(weights)} by ${provider}`, (model) => {
    const { traffic } = model.status ?? {}
    const hasWeights = JSON.stringify(weightsOf(model)) === JSON.stringify(weights)
    return traffic?.provider === provider && traffic.previous === undefined && hasWeights
  })

const subsetsOf = (service: VirtualService) =>
  Object.fromEntries(destinationsOf(service).map(({ destination, weight }) => [destination.subset, weight]))

const servicesOf = (route: HTTPRoute) => Object.fromEntries(backendsOf(route).map(({ name, weight }) => [name, weight]))

/** Edits and deletes the object, and waits until both are reverted. */
async function isRepaired(resource: Resource, key: { namespace: string; name: string }, edit: object): Promise<void> {
  const intact = await client.get(resource, key)
  const specOf = (object: KubeObject): string => JSON.stringify((object as KubeObject & { spec: unknown }).spec)
  await client.patch(resource, key, edit)
  await until(`${resource.kind} to be repaired`, async () => specOf(await client.get(resource, key)) === specOf(intact))
  await client.delete(resource, keyOf(intact))
  await until(`${resource.kind} to be back`, async () => specOf(await client.get(resource, key)) === specOf(intact))
}

describe('traffic providers', () => {
  test('auto: the router without Istio, and Istio as soon as it is installed, without a restart', async (t) => {
    const fixture = await setUp(t, 'istio')
    const { create, change, get, disappears, namespace: ns } = fixture
    await create({ versions: versions({ v1: 90, v2: 10 }) })
    await isInEffect(fixture, 'router', { v1: 90, v2: 10 })
    await installTrafficKinds(client, [VirtualService, DestinationRule])
    await isInEffect(fixture, 'istio', { v1: 90, v2: 10 })
    assert.deepEqual(subsetsOf(await get(VirtualService, `${MODEL}-vs`)), { v1: 90, v2: 10 })
    await disappears(Deployment, `${MODEL}-router`)
    await change({ versions: versions({ v1: 25, v2: 75 }) })
    await isInEffect(fixture, 'istio', { v1: 25, v2: 75 })
    const routed = await get(VirtualService, `${MODEL}-vs`)
    assert.deepEqual(subsetsOf(routed), { v1: 25, v2: 75 })
    assert.deepEqual(await writesAfterRestart(fixture), [])
    const hijacked = [{ route: [{ destination: { host: 'elsewhere' } }] }, ...(routed.spec.http ?? [])]
    for (const spec of [{ hosts: ['elsewhere'] }, { http: null }, { http: [{}] }, { http: hijacked }])
      await isRepaired(VirtualService, { namespace: ns, name: `${MODEL}-vs` }, { spec })
    for (const spec of [{ host: 'elsewhere' }, { subsets: null }])
      await isRepaired(DestinationRule, { namespace: ns, name: `${MODEL}-vs` }, { spec })
    await change({ versions: versions({ v2: 100 }) })
    await disappears(Deployment, `${MODEL}-v1`)
    await change({ traffic: { provider: 'router' } })
    await isInEffect(fixture, 'router', { v2: 100 })
    await disappears(VirtualService, `${MODEL}-vs`)
    await disappears(DestinationRule, `${MODEL}-vs`)
  })

  test('gateway: reported as missing, then in effect, then left again', async (t) => {
    const fixture = await setUp(t, 'gateway')
    const { create, change, get, becomes, disappears, namespace: ns } = fixture
    const traffic = { provider: 'gateway', gateways: ['public'], hostnames: ['bert.example.com'] }
    await create({ versions: versions({ v1: 60, v2: 40 }), traffic })
    await becomes('waiting for the Gateway API', ({ status }) => /gateway/i.test(JSON.stringify(status?.conditions)))
    await installTrafficKinds(client, [HTTPRoute])
    const gateway = new FakeGateway(client, ns)
    t.after(() => gateway.stop())
    await isInEffect(fixture, 'gateway', { v1: 60, v2: 40 })
    assert.deepEqual(servicesOf(await get(HTTPRoute, MODEL)), { [`${MODEL}-v1`]: 60, [`${MODEL}-v2`]: 40 })
    assert.deepEqual(await writesAfterRestart(fixture), [])
    const [rule] = (await get(HTTPRoute, MODEL)).spec.rules ?? []
    const hijacked = [{ backendRefs: [...(rule?.backendRefs ?? []), { name: 'elsewhere', port: 80, weight: 900 }] }]
    for (const spec of [
      { hostnames: ['elsewhere.example.com'] },
      { rules: null, parentRefs: null },
      { rules: hijacked },
    ])
      await isRepaired(HTTPRoute, { namespace: ns, name: MODEL }, { spec })
    await change({ versions: versions({ v1: 0, v2: 100 }) })
    await isInEffect(fixture, 'gateway', { v2: 100 })
    await change({ traffic: { provider: 'replicas', gateways: null, hostnames: null } })
    await isInEffect(fixture, 'replicas', { v2: 100 })
    await disappears(HTTPRoute, MODEL)
  })

  test('does not change routes of another owner, and reports the conflict', async (t) => {
    const fixture = await setUp(t, 'foreign')
    const { create, becomes, change, get, namespace: ns } = fixture
    const spec = { hosts: ['x'], host: 'x' }
    const foreign: readonly (readonly [Resource, string, string])[] = [
      [DestinationRule, `${MODEL}-vs`, 'istio'],
      [VirtualService, `${MODEL}-vs`, 'istio'],
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
      await client.delete(resource, { namespace: ns, name })
    }
  })

  test('replicas: the number of pods follows the weights', async (t) => {
    const fixture = await setUp(t, 'replicas')
    const { create, change, get } = fixture
    const scaling = { minReplicas: 4, maxReplicas: 4 }
    await create({ versions: versions({ v1: 75, v2: 25 }), scaling, traffic: { provider: 'replicas' } })
    await isInEffect(fixture, 'replicas', { v1: 75, v2: 25 })
    const replicas = async () =>
      Promise.all(['v1', 'v2'].map(async (version) => (await get(Deployment, `${MODEL}-${version}`)).spec?.replicas))
    assert.deepEqual(await replicas(), [3, 1])
    const { spec } = await get(Service, `${MODEL}-service`)
    assert.equal(spec?.selector?.['modeldeployment.ml.example.com/version'], undefined)
    await change({ versions: versions({ v1: 25, v2: 75 }) })
    await until('the other way round', async () => (await replicas()).join() === '1,3')
  })

  /** The last test, because it deletes the CRDs. */
  test('Istio is removed: the Service keeps its selector until the router is in effect', async (t) => {
    await installTrafficKinds(client, [VirtualService, DestinationRule])
    const fixture = await setUp(t, 'removed')
    const { create, exists, get, passesThrice, routers } = fixture
    await create({ versions: versions({ v1: 90, v2: 10 }) })
    await isInEffect(fixture, 'istio', { v1: 90, v2: 10 })
    routers.isUnreachable = true
    for (const { plural, group } of [VirtualService, DestinationRule])
      await client.delete(CustomResourceDefinition, { name: `${plural}.${group}` })
    await exists(Deployment, `${MODEL}-router`)
    await passesThrice()
    const role = async () => (await get(Service, `${MODEL}-service`)).spec?.selector?.[ROLE_LABEL]
    assert.equal(await role(), 'server')
    routers.isUnreachable = false
    await isInEffect(fixture, 'router', { v1: 90, v2: 10 })
    assert.equal(await role(), 'router')
  })
})
