import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { toDelete, toWrite } from '../../src/decision/plan.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { keyOf } from '../../src/kube/object.ts'
import { ConfigMap, Lease } from '../../src/kube/resources.ts'
import {
  type Commit,
  committer,
  type ControllerOptions,
  createLogger,
  Manager,
  type ManagerOptions,
  type ReconcileContext,
} from '../../src/runtime/index.ts'
import { freePorts } from '../../testenv/ports.ts'
import { Audit } from '../client/audit.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { Faults, errorResponse } from '../client/faults.ts'
import { until } from '../timing/until.ts'
import { installWidgets, type Widget } from '../cluster/widget.ts'

const { client, kubeconfig } = await sharedCluster()
const widgets = await installWidgets()

interface Tools {
  readonly manager: Manager
  readonly commit: Commit
}
type Reconcile = (
  widget: Widget,
  context: ReconcileContext,
  tools: Tools,
) => Promise<{ requeueAfterMs?: number } | void>

function addWidgetController(tools: Tools, ns: string, reconcile: Reconcile, options?: ControllerOptions): void {
  const { manager } = tools
  const cached = manager.caches.of(widgets, { namespace: ns })
  manager.caches.of(ConfigMap, { namespace: ns })
  manager
    .controller('widgets')
    .for(widgets)
    .owns(ConfigMap)
    .reconcile(async (key, context) => {
      const widget = cached.get(key)
      return widget && reconcile(widget, context, tools)
    }, options)
}

/** A manager with one controller of Widgets that own ConfigMaps, in its own namespace. */
async function setUp(
  t: TestContext,
  reconcile: Reconcile,
  more: Partial<ManagerOptions> & { controller?: ControllerOptions } = {},
) {
  const ns = await namespace(t)
  const config = await configFromKubeconfig(kubeconfig)
  const audit = new Audit()
  const faults = new Faults()
  const { controller, ...options } = more
  const manager = new Manager({
    name: 'test.example.com/manager',
    connect: (interceptors) =>
      createClient(config, { interceptors: [...interceptors, audit.interceptor, faults.interceptor] }),
    log: createLogger({ level: 'silent' }),
    shutdownMs: 1_000,
    ...options,
  })
  addWidgetController({ manager, commit: committer(manager) }, ns, reconcile, controller)
  const stop = new AbortController()
  const start = () => {
    const ended = manager.run(stop.signal)
    t.after(async () => {
      stop.abort()
      await ended.catch(() => undefined)
    })
    return ended
  }
  const widget = (name: string, size = 1) =>
    client.create(widgets, {
      apiVersion: `${widgets.group}/v1`,
      kind: 'Widget',
      metadata: { namespace: ns, name },
      spec: { size },
    })
  return { ns, manager, audit, faults, widget, start, stop }
}

/** Applies as many children as the spec has, and counts them in the status. */
const keepChildren: Reconcile = (widget, context, { manager, commit }) => {
  const children = manager.caches.of(ConfigMap).ownedBy(widget.metadata.uid ?? '')
  const names = Array.from({ length: widget.spec?.size ?? 0 }, (_, rank) => `${widget.metadata.name}-${rank}`)
  const plan = {
    writes: toWrite(
      'apply',
      names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { name } })),
    ),
    deletions: toDelete(
      'graceful',
      children.filter(({ metadata }) => !names.includes(metadata.name)),
    ),
    status: { count: names.length },
    events: [],
  }
  return commit(widget, plan, context)
}

describe('a manager', () => {
  test('converges, and then writes nothing over many resyncs', async (t) => {
    let reconciles = 0
    const reconcile: Reconcile = (...args) => {
      reconciles += 1
      return keepChildren(...args)
    }
    const { ns, widget, start, audit } = await setUp(t, reconcile, { controller: { resyncMs: 200 } })
    for (let number = 0; number < 10; number++) await widget(`w-${number}`, 3)
    void start()
    const counted = async () =>
      (await client.list(widgets, { namespace: ns })).items.every(({ status }) => status?.count === 3)
    await until('every status to be written', counted)
    assert.equal((await audit.take()).length, 10 * (3 + 1), 'one write per child and per status')
    const before = reconciles
    await until('five resyncs', () => reconciles > before + 50)
    assert.deepEqual(await audit.take(), [])
  })

  test('never creates a child twice while the cache is behind', async (t) => {
    const { ns, widget, start, audit } = await setUp(t, async (owner, context, tools) => {
      await keepChildren(owner, context, tools)
      return { requeueAfterMs: 1 }
    })
    await widget('w', 20)
    void start()
    await until(
      'all children',
      async () => (await client.list(ConfigMap, { namespace: ns, labelSelector: '' })).items.length >= 20,
    )
    await until(
      'the status',
      async () => (await client.get(widgets, { namespace: ns, name: 'w' })).status?.count === 20,
    )
    const created = (await audit.take()).filter((line) => line.startsWith('apply configmaps'))
    assert.equal(created.length, 20)
    assert.ok(created.every((line) => line.endsWith('201')))
  })

  test('one failing object stops neither the process nor the others', async (t) => {
    const { ns, widget, start, manager } = await setUp(t, async (owner, context, tools) => {
      if (owner.metadata.name === 'poison') throw new TypeError('cannot read properties of undefined')
      return keepChildren(owner, context, tools)
    })
    await widget('poison')
    await widget('healthy')
    void start()
    await until(
      'the healthy one',
      async () => (await client.get(widgets, { namespace: ns, name: 'healthy' })).status?.count === 1,
    )
    const failed = /reconcile_errors_total\{controller="widgets",class="transient",code="Unexpected"\} [1-9]/
    await until('the error to be counted', async () => failed.test(await manager.metrics.registry.metrics()))
  })

  test('converges after every API error, once and five in a row', async (t) => {
    const { ns, widget, start, faults, audit } = await setUp(t, keepChildren)
    const writes = (kind: string) => (call: { verb: string; resource?: { kind: string } }) =>
      ['apply', 'patch'].includes(call.verb) && call.resource?.kind === kind
    const answers = [
      errorResponse(409, 'Conflict'),
      errorResponse(429, 'TooManyRequests'),
      errorResponse(500, 'InternalError'),
      errorResponse(504, 'Timeout'),
      errorResponse(403, 'Forbidden', 'exceeded quota: q'),
    ]
    for (const answer of answers) faults.plan(writes('ConfigMap'), answer)
    faults.plan(writes('Widget'), ...Array.from({ length: 5 }, () => errorResponse(500, 'InternalError')))
    await widget('w', 2)
    void start()
    await until(
      'convergence',
      async () => (await client.get(widgets, { namespace: ns, name: 'w' })).status?.count === 2,
    )
    assert.equal(faults.pending, 0)
    const succeeded = (await audit.take()).filter((line) => /20[01]$/.test(line))
    assert.equal(succeeded.length, 3)
  })

  test('serves health and metrics, and is ready when the caches are', async (t) => {
    const [port = 0] = await freePorts(1)
    const { start, manager, widget, ns } = await setUp(t, keepChildren, { server: { port, host: '127.0.0.1' } })
    assert.equal(manager.health.ready().ok, false)
    void start()
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    await until('readiness', async () => (await get('/readyz')).endsWith('\nok\n'))
    await widget('w')
    await until('the widget', async () => (await client.get(widgets, { namespace: ns, name: 'w' })).status?.count === 1)
    const text = await get('/metrics')
    for (const line of [
      /^cache_objects\{kind="Widget"\} 1$/m,
      /^kube_requests_total\{verb="apply",kind="ConfigMap",code="201"\} 1$/m,
      /^reconcile_duration_seconds_count\{controller="widgets",outcome="success"\} \d+$/m,
      /^workqueue_depth\{controller="widgets"\} \d+$/m,
      /^event_loop_delay_seconds\{quantile="0\.99"\} /m,
      /^leader_election_leading 1$/m,
    ]) {
      assert.match(text, line)
    }
  })

  test('stops in bounded time while a reconcile hangs, and lets the lease expire', async (t) => {
    const hanging = Promise.withResolvers<void>()
    const ns = await namespace(t)
    const lease = { namespace: ns, name: 'lead' }
    const reconcile: Reconcile = async () => {
      hanging.resolve()
      await new Promise(() => undefined)
    }
    const { widget, start, stop, manager } = await setUp(t, reconcile, { leaderElection: { lease } })
    await widget('w')
    const ended = start()
    await hanging.promise
    assert.ok(manager.isLeading)
    stop.abort()
    await ended
    assert.equal((await client.get(Lease, lease)).spec?.holderIdentity, manager.identity)
  })

  test('writes nothing without leadership, not even by its client', async (t) => {
    const ns = await namespace(t)
    const lease = { namespace: ns, name: 'lead' }
    const rival = { holderIdentity: 'rival', leaseDurationSeconds: 3_600 }
    await client.create(Lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec: rival })
    const { start, manager, audit, widget } = await setUp(t, keepChildren, { leaderElection: { lease } })
    const created = await widget('w')
    void start()
    await until('readiness', () => manager.health.ready().ok)
    await assert.rejects(manager.client.patch(widgets, keyOf(created), {}), { code: 'NotLeading' })
    assert.deepEqual(audit.writes, [])
  })
})
