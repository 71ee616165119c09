import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAnswering, configMap, key, settle, setUp } from '../../test/fixtures/controller.ts'
import { ConfigMap } from '../kube/resources.ts'
import type { Reconciler } from './controller.ts'
import { RuntimeError } from './errors.ts'

test('a reconciler that throws does not stop the other keys', async () => {
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
  assert.equal(queue.hold(key('poison')), 200, 'this is the second failure in a row')
  assert.equal(await controller.stop(0), true)
})

test('the error decides about the retry: by backoff, at its own time, or never', async () => {
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

test('a result may ask for a requeue, and a success resets the failure count', async () => {
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
  clock.advance(999)
  await settle()
  assert.equal(runs, 2)
  clock.advance(1)
  await settle()
  assert.equal(runs, 3)
  await controller.stop(0)
  assert.equal(queue.hold(key('x')), 100, 'this is the first failure in a row')
})

test('a run past its time limit is aborted and releases its worker, but its key only after it has returned', async () => {
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

test('a key waits until the cache shows its writes, while others continue', async () => {
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

test('a stale cache is reported, and the key still waits for it', async () => {
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

test('stop waits for running reconciles within the grace period and starts no new ones', async () => {
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

test('an abort by the reconciler itself is a failure and is retried', async () => {
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

test('stop succeeds after the grace period if a reconcile respects its signal', async () => {
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
  await settle()
  clock.advance(1_000)
  assert.equal(await stopping, true)
})
