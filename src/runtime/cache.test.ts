import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { keyOf, keyString, type KubeObject } from '../kube/object.ts'
import { ConfigMap } from '../kube/resources.ts'
import type { WatchUpdate } from '../kube/watch.ts'
import { Cache, type CacheEvent, type CacheOptions } from './cache.ts'
import { createLogger } from './log.ts'

const log = createLogger({ level: 'silent' })

interface Sighting {
  readonly name: string
  readonly uid: string
  readonly version: number
  readonly metadata?: Partial<KubeObject['metadata']> & { managedFields?: unknown }
}

function configMap({ name, uid, version, metadata }: Sighting): ConfigMap {
  const given = { namespace: 'a', name, uid, resourceVersion: String(version), ...metadata }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: given }
}

/** A watch that gives these updates and ends. */
function from(updates: readonly Update[]) {
  return async function* (trim: (object: ConfigMap) => ConfigMap): AsyncIterable<Update> {
    for (const update of updates) {
      if (update.type === 'replace') yield { ...update, items: update.items.map(trim) }
      else if (update.type === 'bookmark') yield update
      else yield { ...update, object: trim(update.object) }
    }
  }
}

type Update = WatchUpdate<ConfigMap>
const replace = (version: number, ...items: ConfigMap[]): Update => ({
  type: 'replace',
  items,
  resourceVersion: String(version),
})
const apply = (sighting: Sighting): Update => ({ type: 'apply', object: configMap(sighting) })
const remove = (sighting: Sighting): Update => ({ type: 'delete', object: configMap(sighting) })

async function cacheAfter(updates: readonly Update[], options: Partial<CacheOptions<ConfigMap>> = {}) {
  const cache = new Cache({ resource: ConfigMap, log, ...options })
  const told: string[] = []
  const events: CacheEvent<ConfigMap>[] = []
  cache.onChange((event) => {
    events.push(event)
    told.push(`${event.type} ${event.object.metadata.uid}@${event.object.metadata.resourceVersion}`)
  })
  await cache.follow(from(updates))
  return { cache, told, events }
}

const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).toSorted()

test('a name deleted and created again across a relist is seen as delete, then add', async () => {
  const old = configMap({ name: 'x', uid: 'old', version: 5 })
  const fresh = configMap({ name: 'x', uid: 'new', version: 9 })
  const { cache, told } = await cacheAfter([replace(5, old), replace(10, fresh)])
  assert.deepEqual(told, ['add old@5', 'delete old@5', 'add new@9'])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.uid, 'new')
})

test('the same within the stream, with the deletion missed, is also delete, then add', async () => {
  const old = configMap({ name: 'x', uid: 'old', version: 5 })
  const { told } = await cacheAfter([replace(5, old), apply({ name: 'x', uid: 'new', version: 9 })])
  assert.deepEqual(told, ['add old@5', 'delete old@5', 'add new@9'])
})

test('an older version never overwrites a newer one, by event or by list', async () => {
  const newer = configMap({ name: 'x', uid: 'one', version: 100 })
  const older = configMap({ name: 'x', uid: 'one', version: 99 })
  const { cache, told } = await cacheAfter([
    replace(100, newer),
    apply({ name: 'x', uid: 'one', version: 99 }),
    replace(101, older),
  ])
  assert.deepEqual(told, ['add one@100'])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '100')
})

test('a list older than the cache, which the watch passes on only if the server insists, rewinds everything', async () => {
  const restored = configMap({ name: 'x', uid: 'one', version: 50 })
  const { cache, told } = await cacheAfter([
    replace(100, configMap({ name: 'x', uid: 'one', version: 100 })),
    replace(60, restored),
    apply({ name: 'y', uid: 'two', version: 61 }),
  ])
  assert.deepEqual(told, ['add one@100', 'delete one@100', 'add one@50', 'add two@61'])
  assert.equal(cache.epoch, 1)
})

test('versions are compared as numbers of any length', async () => {
  const { cache } = await cacheAfter([
    replace(9, configMap({ name: 'x', uid: 'one', version: 9 })),
    apply({ name: 'x', uid: 'one', version: 10 }),
  ])
  assert.equal(cache.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion, '10')
})

test('a late deletion of the old uid leaves the new object alone', async () => {
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
  const told: string[] = []
  cache.onChange(() => {
    throw new Error('boom')
  })
  cache.onChange((event) => told.push(event.type))
  await cache.follow(from([replace(1), apply({ name: 'x', uid: 'one', version: 2 })]))
  assert.deepEqual(told, ['add'])
})

test('only what was there before the start is initial', async () => {
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

test('objects are kept without managedFields, and trimmed as asked; a trim that throws leaves them whole', async () => {
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

test('indexes follow the objects: namespace, owner, label, and functions of one’s own', async () => {
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

test('a write is seen once the object is as new, or the cache has passed it, whatever has become of it', async () => {
  const { cache } = await cacheAfter([replace(5, configMap({ name: 'x', uid: 'one', version: 5 }))])
  const write = { uid: 'one', resourceVersion: '7' }
  assert.equal(cache.hasSeen(write), false)
  await cache.follow(from([apply({ name: 'other', uid: 'two', version: 6 })]))
  assert.equal(cache.hasSeen(write), false)
  await cache.follow(from([{ type: 'bookmark', resourceVersion: '8' }]))
  assert.equal(cache.hasSeen(write), true)
  assert.equal(cache.hasSeen({ uid: 'gone-since', resourceVersion: '8' }), true)
})

test('a deletion is seen when the object is gone or going', async () => {
  const { cache } = await cacheAfter([replace(5, configMap({ name: 'x', uid: 'one', version: 5 }))])
  const deletion = { uid: 'one', deleted: true } as const
  assert.equal(cache.hasSeen(deletion), false)
  const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z' }
  await cache.follow(from([apply({ name: 'x', uid: 'one', version: 6, metadata })]))
  assert.equal(cache.hasSeen(deletion), true)
  await cache.follow(from([remove({ name: 'x', uid: 'one', version: 7 })]))
  assert.equal(cache.hasSeen(deletion), true)
})

/** A cluster's history over a few names, each step with the next version; every prefix is a state the server had. */
const histories = fc.array(fc.record({ name: fc.nat(4), action: fc.constantFrom('set', 'delete') }), { maxLength: 40 })

function play(history: readonly { name: number; action: string }[]): Update[] {
  const alive = new Map<number, string>()
  return history.flatMap(({ name, action }, step): Update[] => {
    const uid = alive.get(name) ?? `uid-${step}`
    if (action === 'delete' && !alive.has(name)) return []
    if (action === 'delete') alive.delete(name)
    else alive.set(name, uid)
    const sighting = { name: `n${name}`, uid, version: step + 1 }
    return [action === 'delete' ? remove(sighting) : apply(sighting)]
  })
}

function versionAfter(updates: readonly Update[]): number {
  const last = updates.at(-1)
  return last && 'object' in last ? Number(last.object.metadata.resourceVersion) : 0
}

function stateAfter(updates: readonly Update[]): ConfigMap[] {
  const state = new Map<string, ConfigMap>()
  for (const update of updates) {
    if (update.type === 'apply') state.set(keyString(keyOf(update.object)), update.object)
    if (update.type === 'delete') state.delete(keyString(keyOf(update.object)))
  }
  return [...state.values()]
}

test('property: whatever part of a history is replaced by a relist, the cache ends as the server does', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(40), fc.nat(40), async (history, one, other) => {
      const updates = play(history)
      const [lost, relisted] = [Math.min(one, other), Math.max(one, other)]
      const listed = updates.slice(0, relisted)
      const { cache, events } = await cacheAfter([
        replace(0),
        ...updates.slice(0, lost),
        replace(versionAfter(listed), ...stateAfter(listed)),
        ...updates.slice(relisted),
      ])
      const byName = (objects: readonly ConfigMap[]) => objects.map((object) => JSON.stringify(object)).toSorted()
      assert.deepEqual(byName(cache.list()), byName(stateAfter(updates)))
      assertPaired(events)
    }),
    { numRuns: 300 },
  )
})

/** Per uid: add, updates, delete, in that order and each at most once where it can be only once. */
function assertPaired(events: readonly CacheEvent<ConfigMap>[]): void {
  const known = new Set<string>()
  const holders = new Map<string, string>()
  for (const { type, object } of events) {
    const { uid = '', name } = object.metadata
    assert.equal(known.has(uid), type !== 'add', `${type} of ${uid}`)
    if (type === 'add') assert.equal(holders.get(name), undefined, `${name} was added while another had its name`)
    if (type === 'delete') known.delete(uid)
    else known.add(uid)
    if (type === 'delete') holders.delete(name)
    else holders.set(name, uid)
  }
}
