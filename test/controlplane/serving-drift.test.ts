/** Changes to the children of a model are reverted. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { describe, test, type TestContext } from 'node:test'
import { keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Job,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { drift } from '../../src/runtime/intent.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { versions } from '../builders/model-deployment.ts'
import {
  conditionOf,
  MODEL,
  servingFixture,
  type ServingSetup,
  versionIn,
  writesAfterRestart,
} from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

async function setUp(t: TestContext, setup: Omit<ServingSetup, 'namespace'> = {}) {
  return servingFixture(t, { client, cluster, node: node.name }, { namespace: await namespace(t), ...setup })
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
  /** A merge patch by another client. */
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
  { resource: ConfigMap, name: `${MODEL}-router-envoy`, edit: { data: { 'envoy.json': '{}' } } },
]

/** Additions that keep our own fields, as merge patches of `kubectl patch` and `kubectl edit`. */
const additions: readonly Drift[] = [
  { resource: Service, name: `${MODEL}-service`, edit: { spec: { selector: { app: 'zzz' } } } },
  { resource: Service, name: `${MODEL}-v1`, edit: { spec: { sessionAffinity: 'ClientIP' } } },
  { resource: Service, name: `${MODEL}-service`, edit: { spec: { publishNotReadyAddresses: true } } },
  { resource: Service, name: `${MODEL}-service`, edit: { spec: { externalIPs: ['192.0.2.1'] } } },
  { resource: Deployment, name: `${MODEL}-v1`, edit: { spec: { paused: true } } },
  { resource: Deployment, name: `${MODEL}-v1`, edit: { spec: { minReadySeconds: 300 } } },
  {
    resource: Deployment,
    name: `${MODEL}-v2`,
    edit: { spec: { template: { spec: { nodeSelector: { disk: 'none' } } } } },
  },
  { resource: Deployment, name: `${MODEL}-v2`, edit: { spec: { template: { spec: { hostNetwork: true } } } } },
  { resource: Deployment, name: `${MODEL}-router`, edit: { spec: { template: { spec: { nodeName: 'nowhere' } } } } },
  { resource: HorizontalPodAutoscaler, name: `${MODEL}-v1`, edit: { spec: { behavior: { scaleDown: frozen() } } } },
  { resource: PodDisruptionBudget, name: `${MODEL}-v1`, edit: { spec: { selector: { matchLabels: { app: 'zzz' } } } } },
  { resource: ConfigMap, name: `${MODEL}-router-envoy`, edit: { data: { more: 'than wanted' } } },
]

function frozen() {
  return { selectPolicy: 'Disabled' }
}

/** Whether an object is as before, except for values of the server and an autoscaler. */
function isAsBefore(now: KubeObject, before: KubeObject & { readonly spec?: object }): boolean {
  const { name, namespace: ns = '', labels = {}, ownerReferences = [] } = before.metadata
  const spec = before.spec && { ...before.spec, replicas: undefined, clusterIP: undefined, clusterIPs: undefined }
  const intended = { ...before, metadata: { name, namespace: ns, labels, ownerReferences }, spec, status: undefined }
  return drift(JSON.parse(JSON.stringify(intended)), now).length === 0
}

/** The spec and data, without values of an autoscaler. */
function specOf(object: KubeObject & { readonly spec?: object; readonly data?: object }): unknown {
  const { spec, data } = object
  return { data, spec: spec && { ...spec, replicas: undefined } }
}

describe('the children of a model', () => {
  test('are repaired within seconds after an edit or a deletion', async (t) => {
    const { create, reaches, get } = await setUp(t)
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

  test('lose additions of others within seconds, and nothing more is written once converged', async (t) => {
    const fixture = await setUp(t, { resyncMs: 200 })
    const { create, reaches, becomes, get } = fixture
    await create({ ...everything, validation: undefined as never })
    await reaches('Running')
    await writesAfterRestart(fixture)
    for (const { resource, name, edit } of additions) {
      const before = specOf(await get(resource, name))
      await client.patch(resource, { namespace: fixture.namespace, name }, edit, { fieldManager: 'kubectl-patch' })
      await until(`${resource.kind}/${name} to lose ${JSON.stringify(edit)}`, async () =>
        isDeepStrictEqual(specOf(await get(resource, name)), before),
      )
    }
    await becomes('settled', (model) => conditionOf(model, 'Progressing').status === 'False')
    assert.deepEqual(await writesAfterRestart(fixture), [])
  })

  test('keep labels and annotations of others, on templates as well', async (t) => {
    const fixture = await setUp(t, { resyncMs: 200 })
    const { create, reaches, get, passesThrice, namespace: ns } = fixture
    await create()
    await reaches('Running')
    const metadata = { labels: { team: 'x' }, annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } }
    const key = { namespace: ns, name: `${MODEL}-deployment` }
    await client.patch(Deployment, key, { metadata, spec: { template: { metadata } } }, { fieldManager: 'kubectl' })
    await passesThrice()
    const { metadata: own, spec } = await get(Deployment, key.name)
    assert.equal(own.labels?.['team'], 'x')
    assert.equal(spec?.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'], 'now')
    const writes = await writesAfterRestart(fixture)
    assert.deepEqual(
      writes.filter((write) => !write.includes('/status')),
      [],
      'the roll-out shows in the status alone',
    )
  })

  test('lose items added to a list: a container, a variable, a port', async (t) => {
    const { create, reaches, get, namespace: ns } = await setUp(t)
    await create()
    await reaches('Running')
    const deployment = { namespace: ns, name: `${MODEL}-deployment` }
    const before = specOf(await get(Deployment, deployment.name))
    const [server] = (await get(Deployment, deployment.name)).spec?.template?.spec?.containers ?? []
    const env = [...(server?.env ?? []), { name: 'LD_PRELOAD', value: '/tmp/x.so' }]
    const containers = [
      { ...server, env },
      { name: 'miner', image: 'example.com/miner' },
    ]
    await client.patch(
      Deployment,
      deployment,
      { spec: { template: { spec: { containers } } } },
      { fieldManager: 'edit' },
    )
    await until('the containers to be as before', async () =>
      isDeepStrictEqual(specOf(await get(Deployment, deployment.name)), before),
    )
    const service = { namespace: ns, name: `${MODEL}-service` }
    const { ports = [] } = (await get(Service, service.name)).spec ?? {}
    const more = [...ports, { name: 'other', port: 9, targetPort: 9, protocol: 'TCP' }]
    await client.patch(Service, service, { spec: { ports: more } }, { fieldManager: 'edit' })
    await until('the ports to be as before', async () =>
      isDeepStrictEqual((await get(Service, service.name)).spec?.ports, ports),
    )
  })

  test('make a model Ready only while its Service has endpoints', async (t) => {
    const { create, reaches, becomes, get, operator, restart, namespace: ns } = await setUp(t)
    await create()
    await reaches('Running')
    // The operator is stopped, so that nothing repairs the Service before its endpoints are gone.
    await operator().stop()
    const name = `${MODEL}-service`
    await client.patch(Service, { namespace: ns, name }, { spec: { selector: { app: 'zzz' } } }, { fieldManager: 'x' })
    await until('no endpoints', async () => {
      const labelSelector = `kubernetes.io/service-name=${name}`
      const { items } = await client.list(EndpointSlice, { namespace: ns, labelSelector })
      return items.every(({ endpoints }) => (endpoints ?? []).length === 0)
    })
    await restart()
    await until(
      'the selector to be repaired',
      async () => (await get(Service, name)).spec?.selector?.['app'] === undefined,
    )
    const ready = await becomes('ready', (model) => conditionOf(model, 'Ready').status === 'True')
    assert.equal(ready.status?.phase, 'Running')
  })

  test('do not repeat a successful validation whose Job was deleted', async (t) => {
    const { create, reaches, passesThrice, namespace: ns } = await setUp(t, { resyncMs: 200 })
    await create({ validation: { script: 'validate.py', timeoutSeconds: 60 } })
    await reaches('Running')
    for (const { metadata } of (await client.list(Job, { namespace: ns })).items)
      await client.delete(Job, { namespace: ns, name: metadata.name }, { propagationPolicy: 'Background' })
    await passesThrice()
    await reaches('Running')
    assert.deepEqual((await client.list(Job, { namespace: ns })).items, [])
  })

  test('keep the number of pods that an autoscaler has set', async (t) => {
    const { create, reaches, becomes, change, get, namespace: ns } = await setUp(t)
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
