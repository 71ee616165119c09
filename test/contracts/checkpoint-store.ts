/** The contract of a store of checkpoints, for every implementation. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'

import { inspect, listCheckpoints } from '../../src/agent/checkpoints/inspection.ts'
import { parseMarker } from '../../src/agent/checkpoints/marker.ts'
import { type CheckpointStore, type Content, OccupiedError } from '../../src/agent/checkpoints/store.ts'
import { PART_BYTES } from '../../src/agent/objects/object-store.ts'
import { checkpoint, checkpointFiles, type Files, nameOf } from '../fixtures/checkpoints.ts'

/** A store with an empty root of its own. */
export interface StoreWorld {
  readonly store: CheckpointStore
  /** Writes a file, as others do. */
  put(path: string, content: string | Uint8Array): Promise<void>
  /** All files below the root. */
  all(): Promise<Readonly<Record<string, Buffer>>>
}

const signal = new AbortController().signal

/** What to write, and how often each file was read. */
function contentOf(files: Readonly<Record<string, string | Uint8Array>>): Content & { readonly reads: string[] } {
  const marker = parseMarker(String(files['.complete']))
  assert.ok(marker)
  const reads: string[] = []
  return {
    marker,
    reads,
    read: async function* (path, { start, end }) {
      reads.push(path)
      yield Buffer.from(files[path] ?? '').subarray(start, end)
    },
    verify: () => Promise.resolve(),
  }
}

async function putAll(world: StoreWorld, folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) await world.put(`${folder}/${path}`, text)
}

async function texts(world: StoreWorld): Promise<Files> {
  return Object.fromEntries(Object.entries(await world.all()).map(([path, bytes]) => [path, bytes.toString()]))
}

const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

export function checkpointStoreContract(name: string, create: (t: TestContext) => Promise<StoreWorld>): void {
  describe(`${name} as a store of checkpoints`, () => {
    test('lists complete checkpoints, the newest first, and ignores what else is there', async (t) => {
      const world = await create(t)
      for (const step of [2, 10, 1]) await putAll(world, nameOf(step), checkpointFiles(step))
      assert.equal((await listCheckpoints(world.store, signal)).hasOther, false)
      await putAll(world, nameOf(11), { ...checkpointFiles(11), 'model.pt': 'damaged' })
      await putAll(world, nameOf(12), { 'model.pt': 'without a marker' })
      for (const odd of ['a b', '.hidden', '-x', 'x'.repeat(129), `${nameOf(1)}.replaced-1`, 'é']) {
        await putAll(world, odd, checkpointFiles(20))
      }
      const listing = await listCheckpoints(world.store, signal)
      assert.deepEqual(listing.complete, [checkpoint(10), checkpoint(2), checkpoint(1)])
      assert.deepEqual(listing.damaged, [nameOf(11)])
      assert.ok(listing.hasOther)
    })

    test('an empty root has nothing', async (t) => {
      const { store } = await create(t)
      assert.deepEqual(await listCheckpoints(store, signal), {
        complete: [],
        damaged: [],
        unfinished: [],
        hasOther: false,
      })
    })

    test('writes a checkpoint, also with empty and large files, and writes it once', async (t) => {
      const world = await create(t)
      const large = randomBytes(PART_BYTES * 2 + 17)
      const sizes = { 'large.bin': large.length, 'nested/deep/é ü.txt': 2, empty: 0 }
      const marker = JSON.stringify({ step: 7, time: '2026-01-01T00:00:00.000Z', files: sizes })
      const files = { 'large.bin': large, 'nested/deep/é ü.txt': 'hi', empty: '', '.complete': marker }
      await world.store.write('seven', contentOf(files), signal)
      const all = await world.all()
      assert.deepEqual(
        Object.keys(all).toSorted(),
        Object.keys(files)
          .map((path) => `seven/${path}`)
          .toSorted(),
      )
      assert.ok(all['seven/large.bin']?.equals(large))
      assert.equal((await inspect(world.store, 'seven', signal)).state, 'complete')
      const again = contentOf(files)
      await world.store.write('seven', again, signal)
      assert.deepEqual(again.reads, [])
    })

    test('does not touch other content with the same name', async (t) => {
      const world = await create(t)
      await putAll(world, 'half', { 'model.pt': 'half' })
      await putAll(world, 'other', checkpointFiles(1))
      const before = await texts(world)
      for (const folder of ['half', 'other']) {
        await assert.rejects(world.store.write(folder, contentOf(checkpointFiles(2)), signal), OccupiedError)
      }
      assert.deepEqual(await texts(world), before)
    })

    test('a write that fails leaves no checkpoint, and its repetition does not write all files again', async (t) => {
      const world = await create(t)
      const files = checkpointFiles(3)
      const failing: Content = {
        ...contentOf(files),
        verify: () => Promise.reject(new Error('cut')),
      }
      await assert.rejects(world.store.write(nameOf(3), failing, signal), /cut/)
      const { complete, unfinished, hasOther } = await listCheckpoints(world.store, signal)
      assert.deepEqual([complete, unfinished.length, hasOther], [[], 1, false])
      const again = contentOf(files)
      await world.store.write(nameOf(3), again, signal)
      assert.deepEqual(again.reads, [])
      assert.deepEqual(await texts(world), below(nameOf(3), files))
    })

    test('never mixes files of two saves', async (t) => {
      const world = await create(t)
      const first = contentOf(checkpointFiles(3, { 'model.pt': 'old' }, '2026-01-01T00:00:00Z'))
      const second = checkpointFiles(3, { 'model.pt': 'new' }, '2026-01-01T00:00:01Z')
      await assert.rejects(world.store.write('c', { ...first, verify: () => Promise.reject(new Error('cut')) }, signal))
      await world.store.write('c', contentOf(second), signal).catch((error: unknown) => {
        assert.ok(error instanceof OccupiedError)
      })
      const { complete } = await listCheckpoints(world.store, signal)
      const all = await texts(world)
      for (const one of complete) assert.equal(all[`${one.name}/model.pt`], 'new')
    })

    test('deletes a checkpoint and nothing else', async (t) => {
      const world = await create(t)
      for (const step of [1, 2]) await putAll(world, nameOf(step), checkpointFiles(step))
      await world.put(`${nameOf(1)}0/model.pt`, 'beside')
      await world.store.delete(nameOf(1), signal)
      await world.store.delete(nameOf(1), signal)
      const rest = { ...below(nameOf(2), checkpointFiles(2)), [`${nameOf(1)}0/model.pt`]: 'beside' }
      assert.deepEqual(await texts(world), rest)
      for (const wrong of ['', '.', '..', '../x', 'a/b', '.hidden', `x.replaced-1`, '.tmp-/../x', 'x\n']) {
        await assert.rejects(world.store.delete(wrong, signal), /is not the name of a checkpoint/)
      }
      assert.deepEqual(await texts(world), rest)
    })
  })
}
