/** A changed port on a real API server: the EndpointSlices of every Service lead to each pod on its own port. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelServers } from '../../src/api/kinds.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { type Pod, Service } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { servingRoleOf, versions } from '../builders/model-deployment.ts'
import { MODEL, servingFixture, type ServingFixture } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly conditions?: { readonly ready?: boolean }
    readonly targetRef?: { readonly uid?: string }
  }[]
  readonly ports?: readonly { readonly port?: number }[]
}

const endpointSlices: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}

const { cluster, client, node } = await apiCluster()

/** The port that the first container of a pod listens on. */
const portOf = (pods: readonly Pod[], uid: string): number | undefined =>
  pods.find(({ metadata }) => metadata.uid === uid)?.spec?.containers[0]?.ports?.[0]?.containerPort

/** Watches the EndpointSlices of a Service from its first ready endpoint on, and checks every state. */
class Endpoints {
  readonly #slices = new Map<string, EndpointSlice>()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  readonly #pods: () => readonly Pod[]
  #hadReady = false
  /** Wrong states: no ready endpoint, or one with a port that its pod does not listen on. */
  readonly faults: string[] = []

  constructor(t: TestContext, { namespace: ns, kubelet }: ServingFixture, service: string) {
    this.#pods = () => kubelet.pods
    this.#ended = this.#follow(ns, service)
    t.after(async () => {
      this.#stop.abort()
      await this.#ended
    })
  }

  /** Ready endpoints: the port they are reached on, by uid of the pod. */
  get ready(): ReadonlyMap<string, number> {
    const found = [...this.#slices.values()].flatMap(({ endpoints = [], ports = [] }) =>
      endpoints
        .filter(({ conditions }) => conditions?.ready)
        .map(({ targetRef }) => [targetRef?.uid ?? '', ports[0]?.port ?? 0] as const),
    )
    return new Map(found)
  }

  async #follow(ns: string, service: string): Promise<void> {
    const selection = { namespace: ns, labelSelector: `kubernetes.io/service-name=${service}` }
    for await (const update of watch(client, endpointSlices, { ...selection, signal: this.#stop.signal })) {
      if (update.type === 'replace') {
        this.#slices.clear()
        for (const slice of update.items) this.#slices.set(slice.metadata.name, slice)
      } else if (update.type === 'apply') this.#slices.set(update.object.metadata.name, update.object)
      else if (update.type === 'delete') this.#slices.delete(update.object.metadata.name)
      this.#check()
    }
  }

  #check(): void {
    const { ready } = this
    if (ready.size === 0 && this.#hadReady) this.faults.push('no ready endpoint')
    this.#hadReady ||= ready.size > 0
    for (const [uid, port] of ready) {
      const listening = portOf(this.#pods(), uid) ?? port
      if (listening !== port) this.faults.push(`sends to port ${port} of a pod that listens on ${listening}`)
    }
  }
}

const runtime = (ns: string, port: number): ModelServer => ({
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelServer',
  metadata: { name: 'own', namespace: ns },
  spec: { image: 'example.com/own:1', port } as ModelServer['spec'],
})

async function setUp(t: TestContext) {
  const ns = await namespace(t)
  await client.create(modelServers, runtime(ns, 8080))
  return servingFixture(t, { client, cluster, node: node.name }, { namespace: ns })
}

const changePort = (ns: string, port: number) =>
  client.patch(modelServers, { namespace: ns, name: 'own' }, { spec: { port } })

/** Waits until every ready endpoint has this port, on which its pod listens. */
async function leadsTo({ pods }: ServingFixture, endpoints: Endpoints, port: number): Promise<void> {
  await until(`endpoints on port ${port} only`, async () => {
    const found = await pods()
    const { ready } = endpoints
    return ready.size > 0 && [...ready].every(([uid, one]) => one === port && portOf(found, uid) === port)
  })
}

const portsOf = async ({ get }: ServingFixture, name: string) => {
  const { spec } = await get(Service, name)
  return spec?.ports?.map(({ port, targetPort }) => [port, targetPort])
}

describe('a changed port of a ModelServer', () => {
  test('direct: the Service always has a ready endpoint, and clients keep their port', async (t) => {
    const fixture = await setUp(t)
    const { namespace: ns, create, reaches, kubelet, pods } = fixture
    await create({ runtime: 'own' })
    const { status } = await reaches('Running')
    const endpoints = new Endpoints(t, fixture, `${MODEL}-service`)
    await leadsTo(fixture, endpoints, 8080)
    // The old pod stays until the new one is ready: with both, each is reached on its own port.
    kubelet.holdTerminating()
    await changePort(ns, 9090)
    await leadsTo(fixture, endpoints, 9090)
    kubelet.releaseTerminating()
    await until('the old pod to be gone', async () => (await pods()).length === 1)
    await leadsTo(fixture, endpoints, 9090)
    assert.deepEqual(endpoints.faults, [])
    assert.deepEqual(await portsOf(fixture, `${MODEL}-service`), [[8080, 'http']])
    assert.equal((await reaches('Running')).status?.url, status?.url)
  })

  test('router: neither the Service of the model nor that of a version loses its endpoints', async (t) => {
    const fixture = await setUp(t)
    const { namespace: ns, create, reaches, pods } = fixture
    await create({ runtime: 'own', versions: versions({ v1: 50, v2: 50 }), traffic: { provider: 'router' } })
    await reaches('Running')
    const [model, one] = [`${MODEL}-service`, `${MODEL}-v1`].map((name) => new Endpoints(t, fixture, name))
    assert.ok(model && one)
    await leadsTo(fixture, one, 8080)
    const routers = async () =>
      (await pods()).filter((pod) => servingRoleOf(pod) === 'router').map(({ metadata }) => metadata.uid)
    const before = await routers()
    await changePort(ns, 9090)
    await leadsTo(fixture, one, 9090)
    assert.deepEqual([...model.faults, ...one.faults], [])
    assert.deepEqual(await portsOf(fixture, `${MODEL}-v1`), [[8080, 'http']])
    assert.deepEqual(await routers(), before)
    await leadsTo(fixture, model, 8080)
  })

  /** Every pod template so far has named its port, so the Services of an earlier operator can change at once. */
  test('migration: a Service with a numeric targetPort is changed without losing an endpoint', async (t) => {
    const fixture = await setUp(t)
    const { namespace: ns, create, reaches, operator, restart } = fixture
    await create({ runtime: 'own' })
    await reaches('Running')
    const endpoints = new Endpoints(t, fixture, `${MODEL}-service`)
    await leadsTo(fixture, endpoints, 8080)
    await operator().stop()
    for (const name of [`${MODEL}-service`, `${MODEL}-v1`]) {
      const ports = [{ name: 'http', port: 8080, targetPort: 8080, protocol: 'TCP' }]
      await client.patch(Service, { namespace: ns, name }, { spec: { ports } })
    }
    await restart()
    await until('both Services to be migrated', async () => {
      const found = await Promise.all([portsOf(fixture, `${MODEL}-service`), portsOf(fixture, `${MODEL}-v1`)])
      return found.every((ports) => ports?.[0]?.[1] === 'http')
    })
    await leadsTo(fixture, endpoints, 8080)
    assert.deepEqual(endpoints.faults, [])
  })
})
