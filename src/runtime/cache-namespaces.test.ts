/** A cache of several namespaces: each has its own watch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { apply, configMap, log, names, remove, replace, type Update } from '../../test/fixtures/cache.ts'
import { ConfigMap } from '../kube/resources.ts'
import { Cache } from './cache.ts'

const inside = (namespace: string, name: string, version: number) => ({
  name,
  uid: `${namespace}-${name}`,
  version,
  metadata: { namespace },
})

const listed = (version: number, ...observations: ReturnType<typeof inside>[]): Update =>
  replace(version, ...observations.map(configMap))

/** Feeds the updates of each namespace to its watch, one namespace after the other. */
async function follow(cache: Cache<ConfigMap>, updates: Readonly<Record<string, readonly Update[]>>): Promise<void> {
  await cache.follow((_, { namespace = '' }) => deliver(updates[namespace] ?? []))
}

async function* deliver(updates: readonly Update[]): AsyncIterable<Update> {
  yield* updates
}

const cacheOf = (...namespaces: string[]) => new Cache({ resource: ConfigMap, log, namespaces })

test('opens one watch for each namespace, or one for all', async () => {
  const opened: unknown[] = []
  const open = (_: unknown, scope: { readonly namespace?: string }) => {
    opened.push(scope)
    return deliver([])
  }
  await cacheOf('a', 'b').follow(open)
  await cacheOf().follow(open)
  assert.deepEqual(opened, [{ namespace: 'a' }, { namespace: 'b' }, {}])
})

test('has synced after the first list of every namespace', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(5)] })
  assert.equal(cache.hasSynced, false)
  await follow(cache, { b: [listed(2)] })
  assert.equal(cache.hasSynced, true)
})

test('a list replaces the objects of its namespace only', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(5, inside('a', 'x', 1))], b: [listed(5, inside('b', 'y', 2))] })
  await follow(cache, { a: [listed(9, inside('a', 'z', 8))] })
  assert.deepEqual(names(cache.list()), ['y', 'z'])
})

test('takes changes of a namespace whose watch is behind that of another', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(1), apply(inside('a', 'x', 90))], b: [listed(1), apply(inside('b', 'y', 40))] })
  assert.deepEqual(names(cache.list()), ['x', 'y'])
  assert.equal(cache.epoch, 0)
})

test('reflects a write when the watch of its namespace has passed it, whatever the others have', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(90)], b: [listed(40)] })
  const write = { uid: 'gone', resourceVersion: '60' }
  assert.equal(cache.hasSeen({ ...write, namespace: 'a' }), true)
  assert.equal(cache.hasSeen({ ...write, namespace: 'b' }), false)
  assert.equal(cache.hasSeen(write), false)
  await follow(cache, { b: [{ type: 'bookmark', resourceVersion: '70' }] })
  assert.equal(cache.hasSeen({ ...write, namespace: 'b' }), true)
  assert.equal(cache.hasSeen(write), true)
})

test('a list that is older than its watch, as after a restore of etcd, replaces its namespace only', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(50, inside('a', 'x', 45))], b: [listed(50, inside('b', 'y', 46))] })
  await follow(cache, { a: [listed(20, inside('a', 'x', 19))] })
  assert.equal(cache.epoch, 1)
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '19')
  assert.equal(cache.get({ namespace: 'b', name: 'y' })?.metadata.resourceVersion, '46')
})

test('a kind that is served again counts as served after every namespace was listed again', async () => {
  const cache = cacheOf('a', 'b')
  await follow(cache, { a: [listed(5)], b: [listed(5)] })
  cache.empty()
  await follow(cache, { a: [listed(6)] })
  assert.equal(cache.isServed, false)
  await follow(cache, { b: [listed(6)] })
  assert.equal(cache.isServed, true)
})

test('property: in whatever order the watches deliver, the cache ends with the state of the server', async () => {
  const steps = fc.array(
    fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), name: fc.nat(3), isDeletion: fc.boolean() }),
    { maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 3 }),
      async (history, order) => {
        const expected = new Map<string, string>()
        const updates: Record<string, Update[]> = { a: [listed(0)], b: [listed(0)], c: [listed(0)] }
        for (const [step, { namespace, name, isDeletion }] of history.entries()) {
          const observation = inside(namespace, `n${name}`, step + 1)
          if (isDeletion) expected.delete(observation.uid)
          else expected.set(observation.uid, String(step + 1))
          updates[namespace]?.push(isDeletion ? remove(observation) : apply(observation))
        }
        const cache = cacheOf('a', 'b', 'c')
        for (const namespace of order) await follow(cache, { [namespace]: updates[namespace] ?? [] })
        const state = cache.list().map(({ metadata }) => [metadata.uid, metadata.resourceVersion])
        assert.deepEqual(new Map(state as [string, string][]), expected)
      },
    ),
    { numRuns: 200 },
  )
})
