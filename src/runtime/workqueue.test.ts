import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { keyString } from '../kube/object.ts'
import { FakeClock } from './fake-clock.ts'
import { type Priority, WorkQueue } from './workqueue.ts'

const key = (namespace: string, name: string) => ({ namespace, name })

function queueOnFakeTime() {
  const clock = new FakeClock()
  const backoff = { baseMs: 100, factor: 2, maxMs: 1_000, jitter: 0 }
  return { clock, queue: new WorkQueue({ clock, backoff, random: () => 0 }) }
}

/** Takes everything that is ready, in order. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const taken: string[] = []
  while (queue.depth > 0) {
    const item = await queue.take()
    if (!item) break
    taken.push(keyString(item.key))
    queue.done(item.key)
  }
  return taken
}

test('a key added many times is one piece of work', async () => {
  const { queue } = queueOnFakeTime()
  for (let times = 0; times < 100; times++) queue.add(key('a', 'one'))
  assert.deepEqual(await drain(queue), ['a/one'])
})

test('a key added while it is processed is taken once more, after done', async () => {
  const { queue } = queueOnFakeTime()
  queue.add(key('a', 'one'))
  const first = await queue.take()
  queue.add(key('a', 'one'))
  queue.add(key('a', 'one'))
  assert.equal(queue.depth, 0)
  queue.done(first!.key)
  assert.deepEqual(await drain(queue), ['a/one'])
})

test('with five thousand keys of one namespace queued, the key of another is served next', async () => {
  const { queue } = queueOnFakeTime()
  for (let number = 0; number < 5_000; number++) queue.add(key('noisy', `job-${number}`))
  await queue.take()
  queue.add(key('quiet', 'job'))
  assert.equal(keyString((await queue.take())!.key), 'quiet/job')
})

test('namespaces take turns, and keys of one namespace keep their order', async () => {
  const { queue } = queueOnFakeTime()
  for (const name of ['1', '2', '3']) queue.add(key('a', name))
  for (const name of ['1', '2']) queue.add(key('b', name))
  queue.add(key('c', '1'))
  assert.deepEqual(await drain(queue), ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'])
})

test('a user change goes before background work and raises the priority of its key', async () => {
  const { queue } = queueOnFakeTime()
  queue.add(key('a', 'resync-1'), 'background')
  queue.add(key('a', 'resync-2'), 'background')
  queue.add(key('a', 'changed'))
  queue.add(key('a', 'resync-2'))
  assert.deepEqual(await drain(queue), ['a/changed', 'a/resync-2', 'a/resync-1'])
})

test('background work is not starved by a stream of user changes', async () => {
  const { queue } = queueOnFakeTime()
  queue.add(key('a', 'resync'), 'background')
  let takes = 0
  for (let served = ''; served !== 'a/resync' && takes < 100; takes++) {
    queue.add(key('a', `change-${takes}`))
    const item = await queue.take()
    served = keyString(item!.key)
    queue.done(item!.key)
  }
  assert.ok(takes <= 10, `served after ${takes} takes`)
})

test('a delayed add fires on time, once, and the earliest wins', async () => {
  const { queue, clock } = queueOnFakeTime()
  queue.addAfter(key('a', 'one'), 500)
  queue.addAfter(key('a', 'one'), 200)
  queue.addAfter(key('a', 'one'), 900)
  clock.advance(199)
  assert.equal(queue.depth, 0)
  clock.advance(1)
  assert.deepEqual(await drain(queue), ['a/one'])
  clock.advance(10_000)
  assert.equal(queue.depth, 0)
})

test('taking a key cancels its delayed add: the reconcile decides again', async () => {
  const { queue, clock } = queueOnFakeTime()
  queue.addAfter(key('a', 'one'), 500)
  queue.add(key('a', 'one'))
  assert.deepEqual(await drain(queue), ['a/one'])
  assert.equal(clock.pendingTimers, 0)
})

test('the delay between retries of a key grows until it is reset', () => {
  const { queue, clock } = queueOnFakeTime()
  const delays = Array.from({ length: 6 }, () => {
    const delay = queue.retry(key('a', 'one'))
    clock.advance(delay)
    return delay
  })
  assert.deepEqual(delays, [100, 200, 400, 800, 1_000, 1_000])
  queue.forget(key('a', 'one'))
  assert.equal(queue.retry(key('a', 'one')), 100)
})

test('no add makes a key ready before its backoff ends', async () => {
  const { queue, clock } = queueOnFakeTime()
  const one = key('a', 'one')
  queue.hold(one)
  queue.hold(one)
  for (let adds = 0; adds < 100; adds++) queue.add(one)
  clock.advance(199)
  assert.equal(queue.depth, 0)
  clock.advance(1)
  assert.deepEqual(await drain(queue), ['a/one'])
})

test('an add while the key is processed waits for the backoff of the failure that follows', async () => {
  const { queue, clock } = queueOnFakeTime()
  const one = key('a', 'one')
  queue.add(one)
  await queue.take()
  queue.add(one)
  queue.hold(one)
  queue.done(one)
  clock.advance(99)
  assert.equal(queue.depth, 0)
  clock.advance(1)
  assert.deepEqual(await drain(queue), ['a/one'])
})

test('a change of the object itself ends the backoff', async () => {
  const { queue } = queueOnFakeTime()
  const one = key('a', 'one')
  for (let failures = 0; failures < 5; failures++) queue.retry(one)
  queue.add(one, 'user', 'ends')
  assert.deepEqual(await drain(queue), ['a/one'])
  assert.equal(queue.hold(one), 100, 'this is the first failure in a row')
})

test('a change of a dependency shortens a long backoff to ten seconds', async () => {
  const clock = new FakeClock()
  const queue = new WorkQueue({ clock, backoff: { baseMs: 60_000, factor: 2, maxMs: 60_000, jitter: 0 } })
  const one = key('a', 'one')
  queue.retry(one)
  queue.add(one, 'user', 'shortens')
  clock.advance(9_999)
  assert.equal(queue.depth, 0)
  clock.advance(1)
  assert.deepEqual(await drain(queue), ['a/one'])
})

test('waiting takes resolve as keys arrive, and end when the queue closes', async () => {
  const { queue } = queueOnFakeTime()
  const [first, second] = [queue.take(), queue.take()]
  queue.add(key('a', 'one'))
  assert.equal((await first)?.key.name, 'one')
  queue.close()
  assert.equal(await second, undefined)
  queue.add(key('a', 'two'))
  assert.equal(await queue.take(), undefined)
})

type Command =
  | { do: 'add'; key: number; priority: Priority }
  | { do: 'addAfter'; key: number; ms: number }
  | { do: 'retry'; key: number }
  | { do: 'hold'; key: number }
  | { do: 'take' }
  | { do: 'done'; nth: number }
  | { do: 'advance'; ms: number }

const anyKey = fc.nat(7)
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      key: anyKey,
      priority: fc.constantFrom<Priority[]>('user', 'background'),
    }),
    fc.record({ do: fc.constant('addAfter' as const), key: anyKey, ms: fc.nat(2_000) }),
    fc.record({ do: fc.constant('retry' as const), key: anyKey }),
    fc.record({ do: fc.constant('hold' as const), key: anyKey }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('done' as const), nth: fc.nat(7) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.nat(2_000) }),
  ),
  { maxLength: 80 },
)

/** A queue, and its expected state: keys being processed, and pending takes. */
class Observed {
  readonly clock = new FakeClock()
  readonly queue = new WorkQueue({ clock: this.clock })
  readonly working = new Set<string>()
  readonly owed = new Set<string>()

  async take(): Promise<void> {
    const item = await this.queue.take()
    const id = keyString(item!.key)
    assert.ok(!this.working.has(id), `${id} was handed out twice`)
    this.working.add(id)
    this.owed.delete(id)
  }

  finish(id: string): void {
    const [namespace = '', name = ''] = id.split('/')
    this.working.delete(id)
    this.queue.done(key(namespace, name))
  }

  demand(number: number): { namespace: string; name: string } {
    const target = key(`ns-${number % 3}`, `key-${number}`)
    this.owed.add(keyString(target))
    return target
  }

  async obey(command: Command): Promise<void> {
    const { queue, working } = this
    if (command.do === 'add') queue.add(this.demand(command.key), command.priority)
    if (command.do === 'addAfter') queue.addAfter(this.demand(command.key), command.ms)
    if (command.do === 'retry') queue.retry(this.demand(command.key))
    if (command.do === 'hold') queue.hold(key(`ns-${command.key % 3}`, `key-${command.key}`))
    if (command.do === 'advance') this.clock.advance(command.ms)
    if (command.do === 'take' && queue.depth > 0) await this.take()
    if (command.do === 'done' && working.size > 0) this.finish([...working][command.nth % working.size]!)
  }

  /** Lets time pass and work finish until nothing is owed. */
  async settle(): Promise<void> {
    while (this.owed.size > 0 || this.working.size > 0) {
      for (const id of this.working) this.finish(id)
      this.clock.advance(3_600_000)
      if (this.owed.size > 0) assert.ok(this.queue.depth > 0, `lost: ${[...this.owed].join(', ')}`)
      while (this.queue.depth > 0) await this.take()
    }
  }
}

test('property: a key is never processed twice at the same time, and no add is lost', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (script) => {
      const observed = new Observed()
      for (const command of script) await observed.obey(command)
      await observed.settle()
    }),
    { numRuns: 300 },
  )
})

test('property: the wait of a key is bounded by the number of busy namespaces, not of keys', async () => {
  const load = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(load, async (keysPerNamespace) => {
      const { queue } = queueOnFakeTime()
      keysPerNamespace.forEach((count, namespace) => {
        for (let name = 0; name < count; name++) queue.add(key(`busy-${namespace}`, String(name)))
      })
      queue.add(key('quiet', 'one'))
      const order = await drain(queue)
      assert.ok(order.indexOf('quiet/one') <= keysPerNamespace.length)
    }),
  )
})
