/** The agent ends at each of its requests to a bucket and starts again: nothing incomplete ever counts as complete. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { MemoryObjects } from '../../../test/fakes/memory-objects.ts'
import { checkpointFiles, nameOf } from '../../../test/fixtures/checkpoints.ts'
import { BucketStore } from './bucket.ts'
import { deleteCheckpoints } from './delete.ts'
import { listCheckpoints } from './inspection.ts'
import { prepareCheckpoints } from './prepare.ts'
import type { PruneOptions } from './prune.ts'
import type { CheckpointStore } from './store.ts'

const { signal } = new AbortController()
const retryPolicy = { waitsMs: [], stallMs: 10_000 }
const HOUR_MS = 3_600_000

/** Two hours later, so that what a run has left counts as abandoned. */
const options: PruneOptions = { keepLast: 1, signal, retryPolicy, log: () => {}, now: () => Date.now() + 2 * HOUR_MS }

interface World {
  readonly objects: MemoryObjects
  readonly root: CheckpointStore
  readonly other: CheckpointStore
}

function worldWith(root: readonly number[], other: readonly number[]): World {
  const objects = new MemoryObjects()
  const place = (prefix: string, steps: readonly number[]): CheckpointStore => {
    for (const step of steps) {
      for (const [path, text] of Object.entries(checkpointFiles(step))) {
        objects.set(`${prefix}${nameOf(step)}/${path}`, Buffer.from(text))
      }
    }
    return new BucketStore(objects, { prefix, shown: `mem://bucket/${prefix}`, retryPolicy })
  }
  return { objects, root: place('root/', root), other: place('other/', other) }
}

/** From the request with this number on, no request arrives. */
function endAt({ objects }: World, request: number): void {
  let count = 0
  objects.fault = () => {
    if (++count >= request) throw new Error('ended')
  }
}

async function completeSteps(store: CheckpointStore): Promise<readonly number[]> {
  return (await listCheckpoints(store, signal)).complete.map(({ step }) => step)
}

/** Every complete checkpoint has the files of its step. */
async function assertWhole({ objects, root }: World): Promise<void> {
  for (const { name, step } of (await listCheckpoints(root, signal)).complete) {
    for (const [path, text] of Object.entries(checkpointFiles(step))) {
      const bytes = objects.objects.get(`root/${name}/${path}`)?.bytes
      assert.equal(Buffer.from(bytes ?? []).toString(), text)
    }
  }
}

/** An empty object that shows what was begun may remain beside a marker. */
function keysBelow({ objects }: World, prefix: string): readonly string[] {
  const all = [...objects.objects.keys()].filter((key) => key.startsWith(prefix))
  const isBesideMarker = (key: string): boolean => objects.objects.has(key.replace(/[^/]*$/, '.complete'))
  return all.filter((key) => !key.includes('/.tmp-agent-') || !isBesideMarker(key)).toSorted()
}

const keysOf = (step: number): readonly string[] =>
  Object.keys(checkpointFiles(step))
    .map((path) => `root/${nameOf(step)}/${path}`)
    .toSorted()

interface Scenario {
  readonly create: () => World
  readonly run: (world: World) => Promise<unknown>
  /** After a run that was ended. */
  readonly check: (steps: readonly number[]) => void
  /** The keys below the root after a run to the end. */
  readonly rest: readonly string[]
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'deletes old checkpoints': {
    create: () => worldWith([1, 2, 3], []),
    run: ({ root }) => prepareCheckpoints(root, undefined, options),
    check: (steps) => assert.equal(steps[0], 3),
    rest: keysOf(3),
  },
  'imports a checkpoint': {
    create: () => worldWith([], [4]),
    run: ({ root, other }) => prepareCheckpoints(root, { shown: 'other', root: other }, options),
    check: (steps) => assert.ok(steps.length === 0 || steps[0] === 4),
    rest: keysOf(4),
  },
  'deletes all': {
    create: () => worldWith([1, 2], []),
    run: ({ root }) => deleteCheckpoints(root, options),
    check: () => {},
    rest: [],
  },
}

describe('a bucket, when the agent ends while it', () => {
  for (const [name, { create, run, check, rest }] of Object.entries(scenarios)) {
    test(name, async (t) => {
      for (let request = 1; ; request++) {
        const world = create()
        endAt(world, request)
        const isEnded = await run(world).then(
          () => false,
          () => true,
        )
        const wasFaulty = isEnded || keysBelow(world, 'root/').join() !== rest.join()
        world.objects.fault = () => {}
        check(await completeSteps(world.root))
        await assertWhole(world)
        await run(world)
        await assertWhole(world)
        assert.deepEqual(keysBelow(world, 'root/'), rest, `after the end at request ${request}`)
        if (wasFaulty) continue
        t.diagnostic(`ended at each of ${request - 1} requests`)
        return
      }
    })
  }
})
