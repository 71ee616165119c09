import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createClient, type Client } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { keyOf, type KubeObject } from '../../src/kube/object.ts'
import { ConfigMap, Deployment, Event, Pod, Secret, Service } from '../../src/kube/resources.ts'
import { type Commit, committer, createLogger, Manager, type Plan } from '../../src/runtime/index.ts'
import { Audit } from '../audit.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { until } from '../until.ts'
import { installWidgets, type Widget, type WidgetStatus } from '../widget.ts'

const log = createLogger({ level: 'silent' })
const { client, kubeconfig } = await sharedCluster()
const widgets = await installWidgets()

const configMap = (name: string, data: Record<string, string> = { a: '1' }): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) as KubeObject

const service = (name: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }] },
  }) as KubeObject

/** Says much in little: defaults, a list by name, amounts that the server writes differently. */
const deployment = (name: string): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          hostNetwork: false,
          containers: [
            {
              name: 'main',
              image: 'x',
              resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
              env: [],
              args: ['a'],
            },
          ],
          tolerations: [{ key: 'gpu', operator: 'Exists' }],
          volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1024Mi' } }],
        },
      },
    },
  }) as KubeObject

const plan = (parts: Partial<Plan<WidgetStatus>>): Plan<WidgetStatus> => ({
  apply: [],
  prune: [],
  events: [],
  ...parts,
})

/** A pod on a node that does not exist, being deleted: nobody will ever say that it has ended. */
async function stuckPod(
  ns: string,
  name: string,
  ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>,
) {
  const spec = { nodeName: 'nowhere', containers: [{ name: 'main', image: 'x' }] }
  const pod = await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: ns, name, ownerReferences },
    spec,
  })
  await client.delete(Pod, keyOf(pod))
  return client.get(Pod, keyOf(pod))
}

/** A manager whose caches run on one namespace, and a commit that looks at nothing else. */
class Bench {
  readonly namespace: string
  readonly audit = new Audit()
  readonly manager: Manager
  readonly commit: Commit
  readonly #stop = new AbortController()

  constructor(config: Awaited<ReturnType<typeof configFromKubeconfig>>, inNamespace: string) {
    this.namespace = inNamespace
    const connect: ConstructorParameters<typeof Manager>[0]['connect'] = (interceptors) =>
      createClient(config, { interceptors: [...interceptors, this.audit.interceptor], fieldManager: 'bench' })
    this.manager = new Manager({ name: 'bench.example.com/commit', connect, log })
    for (const kind of [widgets, ConfigMap, Service, Deployment, Pod])
      this.manager.caches.of<KubeObject>(kind, { namespace: inNamespace })
    const { caches, recorder, clock, metrics } = this.manager
    this.commit = committer({ caches, recorder, clock, metrics, unseen: [Secret] })
  }

  static async start(t: TestContext): Promise<Bench> {
    const bench = new Bench(await configFromKubeconfig(kubeconfig), await namespace(t))
    const running = bench.manager.run(bench.#stop.signal)
    t.after(async () => {
      bench.#stop.abort()
      await running
    })
    await Promise.all(bench.manager.caches.all().map((cache) => cache.synced))
    return bench
  }

  async widget(name = 'w'): Promise<Widget> {
    const { apiVersion, kind } = { apiVersion: `${widgets.group}/v1`, kind: 'Widget' }
    return client.create(widgets, { apiVersion, kind, metadata: { name, namespace: this.namespace } })
  }

  /** Commits on the newest state, when the caches have it: as a controller would. */
  async pass(parts: Partial<Plan<WidgetStatus>>) {
    await this.settled()
    const owner = this.manager.caches.of(widgets).get({ namespace: this.namespace, name: 'w' }) as Widget
    const call = { client: this.manager.client, signal: AbortSignal.timeout(30_000) }
    return this.commit(owner, plan(parts), call)
  }

  /** The caches equal fresh lists. */
  async settled(): Promise<void> {
    for (const cache of this.manager.caches.all()) {
      await until(`the cache of ${cache.resource.kind} to be up to date`, async () => {
        const { items } = await client.list(cache.resource, { namespace: this.namespace })
        const versions = (objects: readonly KubeObject[]) =>
          objects.map(({ metadata }) => metadata.resourceVersion ?? '').toSorted()
        return versions(items).join() === versions(cache.list()).join()
      })
    }
  }
}

describe('commit', () => {
  test('a converged object costs no write, and every kind of drift is repaired', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const children = { apply: [configMap('c'), service('s'), deployment('d')], status: { phase: 'Ready', count: 3 } }
    await bench.pass(children)
    assert.deepEqual((await bench.audit.take()).toSorted(), [
      'apply configmaps/c 201',
      'apply deployments/d 201',
      'apply services/s 201',
      'patch widgets/w/status 200',
    ])
    for (let resync = 0; resync < 3; resync++) await bench.pass(children)
    assert.deepEqual(await bench.audit.take(), [])

    const at = (name: string) => ({ namespace: bench.namespace, name })
    await client.patch(ConfigMap, at('c'), { data: { a: 'tampered', extra: 'ours to ignore' } })
    await client.patch(Deployment, at('d'), { spec: { template: { spec: { tolerations: null } } } })
    await bench.pass(children)
    assert.deepEqual(await bench.audit.take(), ['apply configmaps/c 200', 'apply deployments/d 200'])
    assert.deepEqual((await client.get(ConfigMap, at('c'))).data, { a: '1', extra: 'ours to ignore' })
    await bench.pass(children)
    assert.deepEqual(await bench.audit.take(), [])
  })

  test('a second process finds everything as it should be and writes nothing', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const children = { apply: [configMap('c'), service('s'), deployment('d')], status: { phase: 'Ready' } }
    await bench.pass(children)
    await bench.audit.take()
    const restarted = committer(bench.manager)
    await bench.settled()
    const owner = bench.manager.caches.of(widgets).get({ namespace: bench.namespace, name: 'w' }) as Widget
    await restarted(owner, plan(children), { client: bench.manager.client, signal: AbortSignal.timeout(30_000) })
    assert.deepEqual(await bench.audit.take(), [])
  })

  test('what the server writes in its own way is accepted, not fought: one write per process', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const divisor = { resourceFieldRef: { resource: 'limits.cpu', divisor: '1000m' } }
    const rewritten = structuredClone(deployment('d')) as unknown as Deployment
    const container = rewritten.spec?.template.spec?.containers[0]
    Object.assign(container ?? {}, { env: [{ name: 'CPU', valueFrom: divisor }] })
    const apply = [rewritten]
    for (let pass = 0; pass < 3; pass++) await bench.pass({ apply })
    assert.deepEqual(await bench.audit.take(), ['apply deployments/d 201'])
  })

  test('a field that is no longer intended is removed', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    await bench.pass({ apply: [configMap('c', { a: '1', b: '2' })] })
    await bench.pass({ apply: [configMap('c', { a: '1' })] })
    const { data } = await client.get(ConfigMap, { namespace: bench.namespace, name: 'c' })
    assert.deepEqual(data, { a: '1' })
  })

  test('children are controlled by the owner and belong to one field manager', async (t) => {
    const bench = await Bench.start(t)
    const owner = await bench.widget()
    await bench.pass({ apply: [configMap('c')] })
    const child = await client.get(ConfigMap, { namespace: bench.namespace, name: 'c' })
    const { uid } = owner.metadata
    assert.deepEqual(child.metadata.ownerReferences, [
      { apiVersion: owner.apiVersion, kind: 'Widget', name: 'w', uid, controller: true, blockOwnerDeletion: true },
    ])
    const { managedFields } = child.metadata as { managedFields?: { manager: string; operation: string }[] }
    assert.deepEqual(
      managedFields?.map(({ manager, operation }) => `${manager} ${operation}`),
      ['bench Apply'],
    )
  })

  for (const known of [true, false]) {
    test(`a foreign object is never touched, ${known ? 'seen in the cache' : 'unknown to the cache'}`, async (t) => {
      const bench = await Bench.start(t)
      await bench.widget()
      const foreign = { ...configMap('c', { whose: 'theirs' }), metadata: { name: 'c', namespace: bench.namespace } }
      const cached = bench.manager.caches.of(ConfigMap)
      if (!known) t.mock.method(cached, 'get', () => undefined)
      const { metadata } = await client.create(ConfigMap, foreign)
      const result = await bench.pass({ apply: [configMap('c'), service('s')], status: { phase: 'Ready' } })
      assert.deepEqual(result, { conflicts: ['ConfigMap/c'], requeueAfterMs: 60_000 })
      const now = await client.get(ConfigMap, keyOf(foreign))
      assert.equal(now.metadata.resourceVersion, metadata.resourceVersion)
      const { status } = await client.get(widgets, { namespace: bench.namespace, name: 'w' })
      assert.equal(status?.phase, 'Ready')
      assert.deepEqual(
        status?.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
        [['Conflict', 'True', 'NotControlled']],
      )
      await client.delete(ConfigMap, keyOf(foreign))
      if (!known) t.mock.restoreAll()
      await bench.pass({ apply: [configMap('c'), service('s')], status: { phase: 'Ready' } })
      const cleared = await client.get(widgets, { namespace: bench.namespace, name: 'w' })
      assert.deepEqual(cleared.status, { phase: 'Ready' })
    })
  }

  test('prune deletes the very object that was seen, and nothing that took its name since', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    await bench.pass({ apply: [configMap('c')] })
    await bench.settled()
    const seen = bench.manager.caches.of(ConfigMap).get({ namespace: bench.namespace, name: 'c' }) as ConfigMap
    await client.delete(ConfigMap, keyOf(seen))
    await client.create(ConfigMap, { ...configMap('c'), metadata: { name: 'c', namespace: bench.namespace } })
    await bench.pass({ prune: [seen] })
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
    const foreign = await client.get(ConfigMap, keyOf(seen))
    assert.deepEqual((await bench.pass({ prune: [foreign] })).conflicts, ['ConfigMap/c'])
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
  })

  test('prune deletes nothing when the owner has changed since the plan was made', async (t) => {
    const bench = await Bench.start(t)
    const owner = await bench.widget()
    await bench.pass({ apply: [configMap('c')] })
    await bench.settled()
    const seen = bench.manager.caches.of(ConfigMap).get({ namespace: bench.namespace, name: 'c' }) as ConfigMap
    await client.patch(widgets, keyOf(owner), { metadata: { labels: { another: 'spec' } } })
    const call = { client, signal: AbortSignal.timeout(60_000) }
    await assert.rejects(bench.commit(owner, plan({ prune: [seen] }), call), /planned anew/)
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
    await client.delete(widgets, keyOf(owner))
    await assert.rejects(bench.commit(owner, plan({ prune: [seen] }), call), /planned anew/)
  })

  test('what went is made again for the owner as it is, not for one that has changed since', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    await bench.pass({ apply: [configMap('c')] })
    await bench.settled()
    const key = { namespace: bench.namespace, name: 'w' }
    const past = bench.manager.caches.of(widgets).get(key) as Widget
    await client.delete(ConfigMap, { namespace: bench.namespace, name: 'c' })
    await client.patch(widgets, key, { metadata: { labels: { another: 'spec' } } })
    await bench.settled()
    const call = { client, signal: AbortSignal.timeout(60_000) }
    await assert.rejects(bench.commit(past, plan({ apply: [configMap('c')] }), call), /planned anew/)
    await bench.audit.take()
    await bench.pass({ apply: [configMap('c')] })
    assert.deepEqual(await bench.audit.take(), ['apply configmaps/c 201'])
  })

  test('what is to be kept has no owner, and is left alone once it exists', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    await bench.pass({ keep: [configMap('k')] })
    const kept = await client.get(ConfigMap, { namespace: bench.namespace, name: 'k' })
    assert.equal(kept.metadata.ownerReferences, undefined)
    await bench.audit.take()
    await bench.pass({ keep: [configMap('k', { other: 'data' })] })
    assert.deepEqual(await bench.audit.take(), [])
  })

  test('what we may not see is created once, controlled, and never looked at', async (t) => {
    const bench = await Bench.start(t)
    const { metadata } = await bench.widget()
    const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { key: 'first' } }
    await bench.pass({ create: [keys] })
    await bench.pass({ create: [{ ...keys, stringData: { key: 'second' } } as KubeObject] })
    const stored = await client.get(Secret, { namespace: bench.namespace, name: 'keys' })
    assert.equal(stored.data?.['key'], Buffer.from('first').toString('base64'))
    assert.equal(stored.metadata.ownerReferences?.[0]?.uid, metadata.uid)
    assert.deepEqual(await bench.audit.take(), ['create secrets/keys 201', 'create secrets/keys 409'])
    await assert.rejects(bench.pass({ create: [configMap('seen')] }), /not among the kinds declared so/)
  })

  test('what cannot end by itself is forced, also through a child that the owner controls', async (t) => {
    const bench = await Bench.start(t)
    const { namespace: ns } = bench
    await bench.widget()
    await bench.pass({ apply: [configMap('parent')] })
    const { apiVersion, kind, metadata } = await client.get(ConfigMap, { namespace: ns, name: 'parent' })
    const owner = { apiVersion, kind, name: 'parent', uid: metadata.uid ?? '', controller: true }
    const stuck = await stuckPod(ns, 'ours', [owner])
    const foreign = await stuckPod(ns, 'theirs', [])
    const { conflicts } = await bench.pass({ force: [stuck, foreign] })
    assert.deepEqual(conflicts, ['Pod/theirs'])
    const left = (await client.list(Pod, { namespace: ns })).items.map((pod) => pod.metadata.name)
    assert.deepEqual(left, ['theirs'])
    await client.delete(Pod, keyOf(foreign), { gracePeriodSeconds: 0 })
  })

  test('pods of a Deployment of ours are annotated, once; no other pod is, nor one that took a name since', async (t) => {
    const bench = await Bench.start(t)
    const { namespace: ns } = bench
    await bench.widget()
    const replicated = { ...deployment('d'), spec: { ...(deployment('d') as Deployment).spec, replicas: 1 } }
    await bench.pass({ apply: [replicated] })
    const pod = await until('the pod', async () => (await client.list(Pod, { namespace: ns })).items[0])
    const { apiVersion, kind, spec } = pod
    const { labels = {}, ownerReferences = [] } = pod.metadata
    const stranger = { ...labels, 'pod-template-hash': 'other' }
    const make = (name: string, metadata: Partial<Pod['metadata']>) =>
      client.create(Pod, { apiVersion, kind, metadata: { ...metadata, name, namespace: ns }, spec } as Pod)
    const foreign = await make('theirs', { labels: stranger, ownerReferences })
    await bench.audit.take()
    const annotations = { 'example.com/route': 'a' }
    const annotate = [
      { object: pod, annotations },
      { object: foreign, annotations },
    ]
    assert.deepEqual((await bench.pass({ annotate })).conflicts, ['Pod/theirs'])
    assert.deepEqual(await bench.audit.take(), [`patch pods/${pod.metadata.name} 200`])
    const annotated = await client.get(Pod, keyOf(pod))
    assert.equal(annotated.metadata.annotations?.['example.com/route'], 'a')
    await bench.pass({ annotate: [{ object: annotated, annotations }] })
    assert.deepEqual(await bench.audit.take(), [])

    const past = { ...annotated, metadata: { ...annotated.metadata, uid: '00000000-0000-4000-8000-000000000000' } }
    const other = { 'example.com/route': 'b' }
    await bench.pass({ annotate: [{ object: past, annotations: other }] })
    assert.equal((await client.get(Pod, keyOf(pod))).metadata.annotations?.['example.com/route'], 'a')
    assert.deepEqual(await bench.audit.take(), [`patch pods/${pod.metadata.name} 422`])
    const absent = { ...annotated, metadata: { ...annotated.metadata, name: 'gone' } }
    assert.deepEqual((await bench.pass({ annotate: [{ object: absent, annotations: other }] })).conflicts, [])
  })

  test('data goes only with an owner that a live read shows going', async (t) => {
    const bench = await Bench.start(t)
    const { namespace: ns } = bench
    const owner = await bench.widget()
    await bench.pass({ keep: [configMap('data')] })
    const data = await client.get(ConfigMap, { namespace: ns, name: 'data' })
    await assert.rejects(bench.pass({ discard: [data] }), /is not being deleted/)
    await client.patch(widgets, keyOf(owner), { metadata: { finalizers: ['example.com/hold'] } })
    await client.delete(widgets, keyOf(owner))
    await bench.pass({ discard: [data] })
    assert.deepEqual(await bench.audit.take(), ['create configmaps/data 201', 'delete configmaps/data 200'])
    await client.patch(widgets, keyOf(owner), { metadata: { finalizers: null } })
  })

  test('an owner whose time is up is deleted, unless it has changed since', async (t) => {
    const bench = await Bench.start(t)
    const stale = await bench.widget()
    await client.patch(widgets, keyOf(stale), { spec: { size: 2 } })
    const call = { client: bench.manager.client, signal: AbortSignal.timeout(30_000) }
    await bench.commit(stale, plan({ expired: true }), call)
    assert.equal((await client.get(widgets, keyOf(stale))).metadata.deletionTimestamp, undefined)
    await bench.pass({ expired: true })
    await assert.rejects(client.get(widgets, keyOf(stale)), /not found/)
  })

  test('nothing is written outside the namespace of the owner', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const elsewhere = { ...configMap('c'), metadata: { name: 'c', namespace: 'default' } }
    await assert.rejects(bench.pass({ apply: [elsewhere] }), /not in the namespace of its owner/)
    await assert.rejects(bench.pass({ keep: [elsewhere] }), /not in the namespace of its owner/)
    assert.deepEqual(await bench.audit.take(), [])
  })

  test('a status from a stale owner conflicts instead of overwriting', async (t) => {
    const bench = await Bench.start(t)
    const stale = await bench.widget()
    await bench.pass({ status: { phase: 'Newer' } })
    const call = { client: bench.manager.client, signal: AbortSignal.timeout(30_000) }
    await assert.rejects(bench.commit(stale, plan({ status: { phase: 'Older' } }), call), { reason: 'Conflict' })
    assert.equal((await client.get(widgets, keyOf(stale))).status?.phase, 'Newer')
  })

  test('a status loses what it no longer says, and a condition keeps its time while its status stays', async (t) => {
    const bench = await Bench.start(t)
    const owner = await bench.widget()
    const condition = { type: 'Ready', status: 'True', reason: 'Up', message: 'one' } as const
    await bench.pass({ status: { phase: 'Running', count: 1, conditions: [condition] } })
    const first = (await client.get(widgets, keyOf(owner))).status?.conditions?.[0]?.lastTransitionTime
    assert.match(first ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    await bench.pass({ status: { phase: 'Running', conditions: [{ ...condition, message: 'two' }] } })
    const { status } = await client.get(widgets, keyOf(owner))
    assert.deepEqual(status, {
      phase: 'Running',
      conditions: [{ ...condition, message: 'two', lastTransitionTime: first }],
    })
  })

  test('an event follows the status that explains it, once, however often the plan is repeated', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const started = { type: 'Normal', reason: 'Started', note: 'all workers run' } as const
    for (let pass = 0; pass < 3; pass++) await bench.pass({ status: { phase: 'Running' }, events: [started] })
    await bench.manager.recorder.flush()
    const { items } = await client.list(Event, { namespace: bench.namespace })
    const ours = items.filter(({ regarding }) => regarding?.kind === 'Widget')
    assert.deepEqual(
      ours.map(({ reason, note, series }) => ({ reason, note, series })),
      [{ reason: 'Started', note: 'all workers run', series: undefined }],
    )
  })

  test('a child that the server refuses fails the pass before any status, and is told as an event', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    const broken = { ...service('s'), spec: { ports: [{ port: 99_999 }] } } as KubeObject
    await assert.rejects(bench.pass({ apply: [broken], status: { phase: 'Ready' } }), { code: 422 })
    await bench.manager.recorder.flush()
    assert.deepEqual(await bench.audit.take(), ['apply services/s 422'])
    const { items } = await client.list(Event, { namespace: bench.namespace })
    assert.equal(items.find(({ regarding }) => regarding?.kind === 'Widget')?.reason, 'ApplyFailed')
  })

  test('a crash after any write loses nothing and repeats nothing: the next pass completes the plan', async (t) => {
    const bench = await Bench.start(t)
    await bench.widget()
    await bench.pass({ apply: [configMap('old')] })
    await bench.settled()
    const old = bench.manager.caches.of(ConfigMap).get({ namespace: bench.namespace, name: 'old' }) as ConfigMap
    await bench.audit.take()
    const target = { apply: [configMap('c'), service('s')], status: { phase: 'Ready' } }
    for (let survived = 0; survived <= 4; survived++) {
      const crash = new AbortController()
      const dying = dyingClient(bench.manager.client, survived, crash)
      await bench.settled()
      const owner = bench.manager.caches.of(widgets).get({ namespace: bench.namespace, name: 'w' }) as Widget
      const prune = bench.manager.caches.of(ConfigMap).get(keyOf(old)) ? [old] : []
      const committed = bench.commit(owner, plan({ ...target, prune }), { client: dying, signal: crash.signal })
      if (survived < 4) await assert.rejects(committed)
      else await committed
    }
    const successes = await bench.audit.take()
    assert.deepEqual(successes.toSorted(), [
      'apply configmaps/c 201',
      'apply services/s 201',
      'delete configmaps/old 200',
      'patch widgets/w/status 200',
    ])
  })
})

/** Dies before its first write if `writes` is 0, else right after one write: what was written stays, nothing else happens. */
function dyingClient(inner: Client, writes: number, crash: AbortController): Client {
  let left = writes === 0 ? 0 : 1
  return new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      if (!['apply', 'patch', 'delete', 'create'].includes(String(name))) return method.bind(target)
      return async (...args: unknown[]) => {
        if (left === 0 && writes < 4) {
          crash.abort()
          throw new Error('crashed')
        }
        left -= 1
        return method.apply(target, args)
      }
    },
  })
}
