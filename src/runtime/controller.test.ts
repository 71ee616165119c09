import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from '../kube/client.ts'
import { keyString, type KubeObject } from '../kube/object.ts'
import { ConfigMap } from '../kube/resources.ts'
import type { WatchUpdate } from '../kube/watch.ts'
import { ControllerBuilder, type Mapping } from './builder.ts'
import { Cache } from './cache.ts'
import { Controller, type ControllerOptions, type Reconciler } from './controller.ts'
import { RuntimeError } from './errors.ts'
import { FakeClock } from './fake-clock.ts'
import { createLogger } from './log.ts'
import { RuntimeMetrics } from './metrics.ts'
import { WorkQueue } from './workqueue.ts'
import { WriteLog } from './write-log.ts'

const log = createLogger({ level: 'silent' })
const key = (name: string) => ({ namespace: 'a', name })

function configMap(name: string, version = 1): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'a', name, uid: name, resourceVersion: String(version) },
  }
}

async function* from<T>(updates: readonly T[]): AsyncIterable<T> {
  yield* updates
}

/** The only thing a client does in these tests: answer a patch with the object at a given version. */
const clientAnswering = (object: KubeObject): Client => ({ patch: async () => object }) as unknown as Client

interface Setup extends ControllerOptions {
  readonly client?: Client
}

function setUp(reconciler: Reconciler, { client = {} as Client, ...options }: Setup = {}) {
  const clock = new FakeClock()
  const cache = new Cache({ resource: ConfigMap, log })
  const backoff = { baseMs: 100, factor: 2, maxMs: 10_000, jitter: 0 }
  const queue = new WorkQueue({ clock, backoff })
  const metrics = new RuntimeMetrics(clock)
  const writes = new WriteLog({ allHolding: () => [cache], ofKind: () => [cache] }, clock)
  const deps = { name: 'test', queue, client, clock, log, metrics, writes }
  const controller = new Controller({ ...deps, primary: cache, reconciler }, options)
  const feed = (...updates: WatchUpdate<ConfigMap>[]) => cache.follow(() => from(updates))
  return { clock, cache, queue, metrics, controller, deps, feed }
}

/** Lets everything happen that is only waiting for its turn. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn()
}

test('a reconciler that throws, or never looks at what it got, does not stop the others', async () => {
  const served: string[] = []
  const { controller, queue } = setUp(async ({ name }) => {
    if (name === 'poison') throw new TypeError('undefined is not a function')
    if (name === 'sync') JSON.parse('{')
    served.push(name)
  })
  for (const name of ['poison', 'sync', 'healthy']) queue.add(key(name))
  controller.start()
  await settle()
  assert.deepEqual(served, ['healthy'])
  assert.equal(queue.failures(key('poison')), 1)
  assert.equal(await controller.stop(0), true)
})

test('the error decides about the retry: backoff, at a time of its own, or never', async () => {
  const runs: string[] = []
  const { controller, queue, clock } = setUp(async ({ name }) => {
    runs.push(name)
    if (name === 'defect') throw new Error('boom')
    if (name === 'later') throw new RuntimeError('External', 'not yet', { retryAfterMs: 5_000 })
    if (name === 'hopeless') throw new RuntimeError('Permanent', 'never')
  })
  for (const name of ['defect', 'later', 'hopeless']) queue.add(key(name))
  controller.start()
  await settle()
  runs.length = 0
  clock.advance(100)
  await settle()
  assert.deepEqual(runs, ['defect'])
  runs.length = 0
  clock.advance(4_900)
  await settle()
  assert.ok(runs.includes('later'))
  assert.ok(!runs.includes('hopeless'))
  await controller.stop(0)
})

test('a result asks to be looked at again, and success ends the row of failures', async () => {
  let runs = 0
  const { controller, queue, clock } = setUp(async () => {
    runs += 1
    if (runs === 1) throw new Error('once')
    return { requeueAfterMs: 1_000 }
  })
  queue.add(key('x'))
  controller.start()
  await settle()
  clock.advance(100)
  await settle()
  assert.equal(queue.failures(key('x')), 0)
  clock.advance(999)
  await settle()
  assert.equal(runs, 2)
  clock.advance(1)
  await settle()
  assert.equal(runs, 3)
  await controller.stop(0)
})

test('a run past its time limit is aborted and releases its worker, but its key only when it has really ended', async () => {
  const stuck = Promise.withResolvers<void>()
  const runs: string[] = []
  let aborted: unknown
  const reconciler: Reconciler = async ({ name }, { signal }) => {
    runs.push(name)
    if (name !== 'stuck' || runs.filter((run) => run === 'stuck').length > 1) return
    signal.addEventListener('abort', () => (aborted = signal.reason))
    await stuck.promise
  }
  const { controller, queue, clock } = setUp(reconciler, { concurrency: 1, timeoutMs: 1_000 })
  queue.add(key('stuck'))
  controller.start()
  await settle()
  queue.add(key('other'))
  clock.advance(1_000)
  await settle()
  assert.equal((aborted as RuntimeError).code, 'ReconcileTimeout')
  assert.deepEqual(runs, ['stuck', 'other'])
  clock.advance(60_000)
  await settle()
  assert.deepEqual(runs, ['stuck', 'other'], 'not twice at once')
  stuck.resolve()
  await settle()
  assert.deepEqual(runs, ['stuck', 'other', 'stuck'])
  await controller.stop(0)
})

test('a key waits until the cache shows what it wrote, while others go on', async () => {
  const seen: (string | undefined)[] = []
  const others: string[] = []
  const setup = setUp(
    async (target, { client }) => {
      if (target.name === 'other') others.push(target.name)
      else if (seen.push(setup.cache.get(target)?.metadata.resourceVersion) === 1)
        await client.patch(ConfigMap, target, {})
    },
    { client: clientAnswering(configMap('x', 7)), concurrency: 1 },
  )
  const { controller, queue, clock, feed } = setup
  await feed({ type: 'replace', items: [configMap('x', 5)], resourceVersion: '5' })
  queue.add(key('x'))
  controller.start()
  await settle()
  queue.add(key('x'))
  queue.add(key('other'))
  await settle()
  clock.advance(500)
  await settle()
  assert.deepEqual(seen, ['5'], 'not on the old state')
  assert.deepEqual(others, ['other'])
  await feed({ type: 'apply', object: configMap('x', 7) })
  clock.advance(1_200)
  await settle()
  assert.deepEqual(seen, ['5', '7'])
  await controller.stop(0)
})

test('a cache that stays behind is reported, and the key still does not run on the past', async () => {
  let runs = 0
  const { controller, queue, clock, metrics } = setUp(
    async (target, { client }) => {
      runs += 1
      await client.patch(ConfigMap, target, {})
    },
    { client: clientAnswering(configMap('x', 7)) },
  )
  queue.add(key('x'))
  controller.start()
  await settle()
  queue.add(key('x'))
  for (let second = 0; second < 20; second++) {
    await settle()
    clock.advance(1_000)
  }
  await settle()
  assert.equal(runs, 1)
  assert.match(await metrics.registry.metrics(), /reconcile_errors_total\{.*code="StaleCache"\} \d+/)
  await controller.stop(0)
})

test('resync queues every object in the background', async () => {
  const runs: string[] = []
  const { controller, clock, feed } = setUp(async ({ name }) => void runs.push(name), { resyncMs: 1_000 })
  await feed({ type: 'replace', items: [configMap('x'), configMap('y')], resourceVersion: '5' })
  controller.start()
  clock.advance(1_100)
  await settle()
  assert.deepEqual(runs.toSorted(), ['x', 'y'])
  await controller.stop(0)
})

test('stop waits for what runs, takes nothing new, and does not wait for ever', async () => {
  const gate = Promise.withResolvers<void>()
  const started: string[] = []
  const { controller, queue, clock } = setUp(
    async ({ name }) => {
      started.push(name)
      await gate.promise
    },
    { concurrency: 1 },
  )
  queue.add(key('running'))
  queue.add(key('waiting'))
  controller.start()
  await settle()
  const stopping = controller.stop(5_000)
  clock.advance(5_000)
  await settle()
  clock.advance(1_000)
  assert.equal(await stopping, false)
  assert.deepEqual(started, ['running'])
  gate.resolve()
})

test('an abort of the reconciler’s own making is a failure like any other and is retried', async () => {
  let runs = 0
  const { controller, queue, clock } = setUp(async () => {
    runs += 1
    throw new DOMException('a sub-task was given up', 'AbortError')
  })
  queue.add(key('x'))
  controller.start()
  await settle()
  clock.advance(100)
  await settle()
  assert.equal(runs, 2)
  await controller.stop(0)
})

test('a reconcile that heeds its signal lets stop succeed after the grace period', async () => {
  const { controller, queue, clock } = setUp(
    (_key, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  )
  queue.add(key('x'))
  controller.start()
  await settle()
  const stopping = controller.stop(5_000)
  await settle()
  clock.advance(5_000)
  assert.equal(await stopping, true)
})

function build(mapping: Mapping<ConfigMap>) {
  const setup = setUp(async () => undefined)
  const caches = { of: () => setup.cache } as never
  const builder = new ControllerBuilder({ ...setup.deps, caches }, () => undefined)
  return { ...setup, builder, mapping }
}

test('a mapping that throws for one object loses nothing of the others', async () => {
  const { builder, mapping, queue, metrics, feed } = build(({ metadata }) => {
    if (metadata.name === 'poison') throw new Error('boom')
    return [key(`for-${metadata.name}`)]
  })
  builder.watches(ConfigMap, mapping)
  await feed({ type: 'replace', items: [configMap('poison'), configMap('x')], resourceVersion: '5' })
  assert.equal(keyString((await queue.take())!.key), 'a/for-x')
  assert.match(await metrics.registry.metrics(), /mapping_errors_total\{controller="test",kind="ConfigMap"\} 1/)
})

test('an object that changes owners concerns the old one and the new one; a filter passes over the rest', async () => {
  const owned = (version: number, owner: string): ConfigMap => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner, controller: true }
    return {
      ...configMap('child', version),
      metadata: { ...configMap('child', version).metadata, ownerReferences: [reference] },
    }
  }
  const { builder, queue, feed } = build(() => [])
  builder.for(ConfigMap, { when: () => false }).owns(ConfigMap, { when: ({ type }) => type === 'update' })
  await feed({ type: 'replace', items: [owned(1, 'old')], resourceVersion: '1' })
  assert.equal(queue.depth, 0)
  await feed({ type: 'apply', object: owned(2, 'new') })
  const keys = [await queue.take(), await queue.take()].map((item) => item!.key.name)
  assert.deepEqual(keys.toSorted(), ['new', 'old'])
})
