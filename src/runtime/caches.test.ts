import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { ConfigMap, Pod } from '../kube/resources.ts'
import type { WatchUpdate } from '../kube/watch.ts'
import type { Cache } from './cache.ts'
import { Caches } from './caches.ts'
import { FakeClock } from './fake-clock.ts'
import { createLogger } from './log.ts'
import { RuntimeMetrics } from './metrics.ts'
import { WriteLog } from './write-log.ts'

const log = createLogger({ level: 'silent' })

function setUp() {
  const metrics = new RuntimeMetrics()
  return { metrics, caches: new Caches({ client: {} as Client, log, metrics }) }
}

function pod(name: string, labels: Readonly<Record<string, string>>, version = 1): Pod {
  const metadata = { namespace: 'a', name, uid: name, resourceVersion: String(version), labels }
  return { apiVersion: 'v1', kind: 'Pod', metadata }
}

async function* from<T>(updates: readonly T[]): AsyncGenerator<T> {
  yield* updates
}

async function feed(cache: Cache<Pod>, ...items: Pod[]): Promise<void> {
  const replace: WatchUpdate<Pod> = { type: 'replace', items, resourceVersion: '1' }
  await cache.follow(() => from([replace]))
}

test('the first use creates a cache, later ones without options return it', () => {
  const { caches } = setUp()
  const pods = caches.of(Pod, { labelSelector: 'job' })
  assert.equal(caches.of(Pod), pods)
  assert.throws(() => caches.of(Pod, { labelSelector: 'job' }), /already exists/)
})

test('a kind may have several caches by selector; labels determine which one has an object', async () => {
  const { caches, metrics } = setUp()
  const [jobs, models] = [caches.of(Pod, { labelSelector: 'job' }), caches.of(Pod, { labelSelector: 'model' })]
  assert.throws(() => caches.of(Pod), /Pod has several caches/)
  assert.equal(caches.holding(pod('x', { model: '1' })), models)
  assert.deepEqual(caches.allHolding(pod('x', { model: '1', job: '1' })), [jobs, models])
  assert.equal(caches.holding(pod('x', {})), undefined)
  await feed(jobs, pod('worker', { job: '1' }))
  await feed(models, pod('server', { model: '1' }), pod('router', { model: '1' }))
  const find = (name: string): KubeObject | undefined =>
    caches.find({ apiVersion: 'v1', kind: 'Pod' }, { namespace: 'a', name })
  assert.deepEqual(
    [find('worker'), find('server'), find('nobody')].map((found) => found?.metadata.name),
    ['worker', 'server', undefined],
  )
  assert.match(await metrics.registry.metrics(), /cache_objects\{kind="Pod"\} 3/)
})

test('a cache without a selector has all objects of its kind', () => {
  const { caches } = setUp()
  const all = caches.of(ConfigMap)
  assert.equal(caches.holding({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }), all)
  assert.equal(caches.holding({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }), undefined)
})

test('waits for a write in every cache that will show it, and in no other', async () => {
  const { caches } = setUp()
  const [jobs, models] = [caches.of(Pod, { labelSelector: 'job' }), caches.of(Pod, { labelSelector: 'model' })]
  await feed(jobs)
  await feed(models)
  const writes = new WriteLog(caches, new FakeClock())
  const key = { namespace: 'a', name: 'bert' }
  const written = pod('server', { model: '1' }, 7)
  const client = writes.clientFor(key, { create: async () => written } as unknown as Client)
  await client.create(Pod, written)
  assert.deepEqual(writes.staleness(key, 0)?.kinds, ['Pod'])
  await models.follow(() => from<WatchUpdate<Pod>>([{ type: 'apply', object: written }]))
  assert.equal(writes.staleness(key, 0), undefined)
})

test('waits for a deletion in every cache that has the object', async () => {
  const { caches } = setUp()
  const [jobs, models] = [caches.of(Pod, { labelSelector: 'job' }), caches.of(Pod, { labelSelector: 'model' })]
  const server = pod('server', { model: '1' })
  await feed(jobs)
  await feed(models, server)
  const writes = new WriteLog(caches, new FakeClock())
  const key = { namespace: 'a', name: 'bert' }
  const client = writes.clientFor(key, { delete: async () => undefined } as unknown as Client)
  await client.delete(Pod, { namespace: 'a', name: 'server' }, { uid: 'server' })
  assert.ok(writes.staleness(key, 0))
  await models.follow(() => from<WatchUpdate<Pod>>([{ type: 'delete', object: server }]))
  assert.equal(writes.staleness(key, 0), undefined)
})
