import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { apply, cacheAfter, from, remove, replace, type Update } from '../../test/fixtures/cache.ts'
import { keyOf, keyString } from '../kube/object.ts'
import type { ConfigMap } from '../kube/resources.ts'
import { type CacheEvent } from './cache.ts'

/** A cluster's history over a few names, each step with the next version; every prefix is a state the server had. */
const histories = fc.array(fc.record({ name: fc.nat(4), action: fc.constantFrom('set', 'delete') }), { maxLength: 40 })

function play(history: readonly { name: number; action: string }[]): Update[] {
  const alive = new Map<number, string>()
  return history.flatMap(({ name, action }, step): Update[] => {
    const uid = alive.get(name) ?? `uid-${step}`
    if (action === 'delete' && !alive.has(name)) return []
    if (action === 'delete') alive.delete(name)
    else alive.set(name, uid)
    const observation = { name: `n${name}`, uid, version: step + 1 }
    return [action === 'delete' ? remove(observation) : apply(observation)]
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

test('property: whatever part of a history a relist replaces, the cache equals the server in the end', async () => {
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

test('property: what was observed stays observed, whatever older events follow', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fc.nat(40), { maxLength: 20 }), async (history, echoes) => {
      const updates = play(history)
      const late = echoes.flatMap((step) => updates[step] ?? [])
      const { cache } = await cacheAfter([replace(0), ...updates])
      const newest = { uid: 'of-an-object-that-is-gone', resourceVersion: String(versionAfter(updates)) }
      assert.equal(cache.hasSeen(newest), true)
      await cache.follow(from(late))
      assert.equal(cache.hasSeen(newest), true)
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
