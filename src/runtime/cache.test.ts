import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apply, cacheAfter, configMap, from, log, names, remove, replace } from '../../test/fixtures/cache.ts'
import { ConfigMap } from '../kube/resources.ts'
import { Cache } from './cache.ts'

test('a recreated object is a delete, then an add, across a relist', async () => {
  const old = configMap({ name: 'x', uid: 'old', version: 5 })
  const fresh = configMap({ name: 'x', uid: 'new', version: 9 })
  const { cache, changes } = await cacheAfter([replace(5, old), replace(10, fresh)])
  assert.deepEqual(changes, ['add old@5', 'delete old@5', 'add new@9'])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.uid, 'new')
})

test('a recreated object is a delete, then an add, also if the stream misses the deletion', async () => {
  const old = configMap({ name: 'x', uid: 'old', version: 5 })
  const { changes } = await cacheAfter([replace(5, old), apply({ name: 'x', uid: 'new', version: 9 })])
  assert.deepEqual(changes, ['add old@5', 'delete old@5', 'add new@9'])
})

test('an older version never overwrites a newer one, by event or by list', async () => {
  const newer = configMap({ name: 'x', uid: 'one', version: 100 })
  const older = configMap({ name: 'x', uid: 'one', version: 99 })
  const { cache, changes } = await cacheAfter([
    replace(100, newer),
    apply({ name: 'x', uid: 'one', version: 99 }),
    replace(101, older),
  ])
  assert.deepEqual(changes, ['add one@100'])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '100')
})

test('a list older than the cache, as after a restore of etcd, replaces everything', async () => {
  const restored = configMap({ name: 'x', uid: 'one', version: 50 })
  const { cache, changes } = await cacheAfter([
    replace(100, configMap({ name: 'x', uid: 'one', version: 100 })),
    replace(60, restored),
    apply({ name: 'y', uid: 'two', version: 61 }),
  ])
  assert.deepEqual(changes, ['add one@100', 'delete one@100', 'add one@50', 'add two@61'])
  assert.equal(cache.epoch, 1)
})

test('versions are compared as numbers of any length', async () => {
  const { cache } = await cacheAfter([
    replace(9, configMap({ name: 'x', uid: 'one', version: 9 })),
    apply({ name: 'x', uid: 'one', version: 10 }),
  ])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '10')
})

test('a late deletion of the old uid does not affect the new object', async () => {
  const { cache } = await cacheAfter([
    replace(5, configMap({ name: 'x', uid: 'old', version: 5 })),
    apply({ name: 'x', uid: 'new', version: 9 }),
    remove({ name: 'x', uid: 'old', version: 8 }),
  ])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.uid, 'new')
})

test('a late change of a deleted object does not bring it back', async () => {
  const { cache } = await cacheAfter([
    replace(5, configMap({ name: 'x', uid: 'old', version: 5 })),
    remove({ name: 'x', uid: 'old', version: 8 }),
    apply({ name: 'x', uid: 'old', version: 7 }),
  ])
  assert.equal(cache.size, 0)
})

test('a listener that throws stops neither the cache nor the other listeners', async () => {
  const cache = new Cache({ resource: ConfigMap, log })
  const changes: string[] = []
  cache.onChange(() => {
    throw new Error('boom')
  })
  cache.onChange((event) => changes.push(event.type))
  await cache.follow(from([replace(1), apply({ name: 'x', uid: 'one', version: 2 })]))
  assert.deepEqual(changes, ['add'])
})

test('only objects of the first list are initial', async () => {
  const { events, cache } = await cacheAfter([
    replace(5, configMap({ name: 'x', uid: 'one', version: 5 })),
    apply({ name: 'y', uid: 'two', version: 6 }),
    replace(9, configMap({ name: 'z', uid: 'three', version: 8 })),
  ])
  assert.deepEqual(
    events.map(({ initial }) => initial),
    [true, false, false, false, false],
  )
  await cache.synced
})

test('objects are cached without managedFields and trimmed; a trim that throws leaves them whole', async () => {
  const trim = (object: ConfigMap): ConfigMap => {
    if (object.metadata.name === 'poison') throw new Error('boom')
    const { data: _, ...rest } = object
    return rest
  }
  const fat = {
    ...configMap({ name: 'x', uid: 'one', version: 5, metadata: { managedFields: [{}] } }),
    data: { a: 'b' },
  }
  const poison = { ...fat, metadata: { ...fat.metadata, name: 'poison', uid: 'two' } }
  const { cache } = await cacheAfter([replace(5, fat, poison)], { trim })
  assert.deepEqual(cache.get({ namespace: 'a', name: 'x' }), configMap({ name: 'x', uid: 'one', version: 5 }))
  assert.deepEqual(cache.get({ namespace: 'a', name: 'poison' })?.data, { a: 'b' })
})

test('indexes follow the objects: namespace, owner, label and custom functions', async () => {
  const owner = { apiVersion: 'v1', kind: 'X', name: 'x' }
  const owned = (uid: string) => ({ ownerReferences: [{ ...owner, uid }], labels: { team: uid } })
  const indexes = {
    version: (object: ConfigMap) => [object.metadata.resourceVersion ?? ''],
    broken: (): string[] => {
      throw new Error('boom')
    },
  }
  const { cache } = await cacheAfter(
    [
      replace(
        5,
        configMap({ name: 'x', uid: 'one', version: 5, metadata: owned('red') }),
        configMap({ name: 'y', uid: 'two', version: 4, metadata: { ...owned('red'), namespace: 'b' } }),
      ),
      apply({ name: 'x', uid: 'one', version: 6, metadata: owned('blue') }),
    ],
    { labels: ['team'], indexes },
  )
  assert.deepEqual(names(cache.list({ namespace: 'b' })), ['y'])
  assert.deepEqual(names(cache.ownedBy('red')), ['y'])
  assert.deepEqual(names(cache.ownedBy('blue')), ['x'])
  assert.deepEqual(names(cache.byLabel('team', 'blue')), ['x'])
  assert.deepEqual(names(cache.byIndex('version', '6')), ['x'])
  assert.deepEqual(names(cache.byIndex('broken', 'x')), [])
  assert.throws(() => cache.byIndex('unknown', 'x'), /no index unknown/)
})

test('a write is observed if the object is as new or the cache has passed its version', async () => {
  const { cache } = await cacheAfter([replace(5, configMap({ name: 'x', uid: 'one', version: 5 }))])
  const write = { uid: 'one', resourceVersion: '7' }
  assert.equal(cache.hasSeen(write), false)
  await cache.follow(from([apply({ name: 'other', uid: 'two', version: 6 })]))
  assert.equal(cache.hasSeen(write), false)
  await cache.follow(from([{ type: 'bookmark', resourceVersion: '8' }]))
  assert.equal(cache.hasSeen(write), true)
  assert.equal(cache.hasSeen({ uid: 'gone-since', resourceVersion: '8' }), true)
})

test('a deletion is observed if the object is gone or terminating', async () => {
  const { cache } = await cacheAfter([replace(5, configMap({ name: 'x', uid: 'one', version: 5 }))])
  const deletion = { uid: 'one', deleted: true } as const
  assert.equal(cache.hasSeen(deletion), false)
  const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z' }
  await cache.follow(from([apply({ name: 'x', uid: 'one', version: 6, metadata })]))
  assert.equal(cache.hasSeen(deletion), true)
  await cache.follow(from([remove({ name: 'x', uid: 'one', version: 7 })]))
  assert.equal(cache.hasSeen(deletion), true)
})

test('lists and indexes keep their order when objects are updated', async () => {
  const cache = new Cache<ConfigMap>({ resource: ConfigMap, log, labels: ['of'] })
  const one = (name: string, version: number, of = 'x') =>
    configMap({ name, uid: name, version, metadata: { labels: { of } } })
  const order = (objects: readonly ConfigMap[]) => objects.map(({ metadata }) => metadata.name).join()
  await cache.follow(from([replace(3, one('a', 1), one('b', 2), one('c', 3))]))
  await cache.follow(
    from([
      { type: 'apply', object: one('a', 4) },
      { type: 'apply', object: one('b', 5) },
    ]),
  )
  assert.deepEqual([order(cache.byLabel('of', 'x')), order(cache.list())], ['a,b,c', 'a,b,c'])
  await cache.follow(from([{ type: 'apply', object: one('a', 6, 'y') }]))
  assert.deepEqual([order(cache.byLabel('of', 'x')), order(cache.byLabel('of', 'y'))], ['b,c', 'a'])
})
