import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { MemoryObjects } from '../../../test/fakes/memory-objects.ts'
import { checkpointDirectory, nameOf, save } from '../../../test/fixtures/checkpoints.ts'
import { until } from '../../../test/timing/until.ts'
import { TransferError, TransientError } from '../transfer/error.ts'
import { BucketStore } from './bucket.ts'
import { DirectoryStore } from './directory.ts'
import { listCheckpoints } from './inspection.ts'
import type { UploadedCheckpoint } from './report.ts'
import { Uploader } from './uploader.ts'

interface World {
  readonly directory: string
  readonly objects: MemoryObjects
  readonly reports: UploadedCheckpoint[]
  readonly lines: string[]
  /** Resolves when the uploader has ended. */
  readonly start: (options?: { keepLast?: number; report?: () => Promise<void> }) => Promise<void>
  readonly stop: () => void
  readonly steps: () => Promise<readonly number[]>
}

async function world(t: TestContext): Promise<World> {
  const directory = await checkpointDirectory(t)
  const objects = new MemoryObjects()
  const [reports, lines]: [UploadedCheckpoint[], string[]] = [[], []]
  const retryPolicy = { waitsMs: [], stallMs: 10_000 }
  const to = new BucketStore(objects, { prefix: 'run/', shown: 's3://bucket/run', retryPolicy })
  const stop = new AbortController()
  t.after(() => stop.abort())
  return {
    directory,
    objects,
    reports,
    lines,
    stop: () => stop.abort(),
    steps: async () => (await listCheckpoints(to, new AbortController().signal)).complete.map(({ step }) => step),
    start: ({ keepLast = 0, report = () => Promise.resolve() } = {}) =>
      new Uploader({
        from: new DirectoryStore(directory),
        to,
        keepLast,
        retryPolicy,
        stop: stop.signal,
        now: Date.now,
        pollMs: 5,
        maxBackoffMs: 5,
        log: (line) => void lines.push(line),
        report: async (one) => {
          await report()
          reports.push(one)
        },
      }).run(),
  }
}

/** The order in which markers were written. */
function markersOf(objects: MemoryObjects): string[] {
  const written: string[] = []
  objects.fault = (call, key) => {
    if (call === 'put' && key.endsWith('/.complete')) written.push(key)
  }
  return written
}

describe('the uploader', () => {
  test('uploads the newest first, keeps the newest in both places, and reports it', async (t) => {
    const { directory, objects, reports, start, stop, steps } = await world(t)
    const written = markersOf(objects)
    for (const step of [1, 2, 3]) await save(directory, step)
    const ended = start({ keepLast: 2 })
    await until('two are uploaded', async () => (await steps()).length === 2 && (await readdir(directory)).length === 2)
    await save(directory, 4)
    await until('the next one replaces the oldest', async () => (await steps()).join() === '4,3')
    stop()
    await ended
    assert.deepEqual(
      written,
      [3, 2, 4].map((step) => `run/${nameOf(step)}/.complete`),
    )
    assert.deepEqual((await readdir(directory)).toSorted(), [nameOf(3), nameOf(4)])
    assert.deepEqual(
      reports,
      [3, 4].map((step) => ({ path: `s3://bucket/run/${nameOf(step)}`, step })),
    )
  })

  test('a new process uploads nothing again, and reports the newest', async (t) => {
    const { directory, objects, reports, start, stop } = await world(t)
    await save(directory, 1)
    const first = start()
    await until('it is reported', () => reports.length === 1)
    const written = markersOf(objects)
    stop()
    await first
    await start()
    assert.deepEqual(written, [])
    assert.equal(reports.length, 2)
  })

  test('survives errors of the store and of the operator', async (t) => {
    const { directory, objects, reports, start, stop, steps, lines } = await world(t)
    let [faults, rejections] = [0, 0]
    objects.fault = () => {
      if (faults++ < 7) throw faults % 2 === 0 ? new TransientError('503') : new TransferError('AccessDenied', 'denied')
    }
    await save(directory, 1)
    const ended = start({
      report: () => (rejections++ < 2 ? Promise.reject(new Error('unavailable')) : Promise.resolve()),
    })
    await until('it is uploaded and reported', async () => reports.length === 1 && (await steps()).length === 1)
    stop()
    await ended
    assert.ok(lines.some((line) => line.includes('cannot upload: denied')))
    assert.ok(lines.some((line) => line.includes('cannot report the checkpoint: unavailable')))
  })

  test('when it is stopped, it uploads the newest one and ends, whatever it was doing', async (t) => {
    const { directory, objects, start, stop, steps } = await world(t)
    await save(directory, 1)
    await save(directory, 2)
    let isStopped = false
    objects.fault = (call, key) => {
      if (call !== 'put' || isStopped || !key.includes(nameOf(1))) return
      isStopped = true
      stop()
    }
    const ended = start()
    await until('it is stopped while it uploads the older one', () => isStopped)
    await ended
    assert.deepEqual(await steps(), [2])
  })

  test('one that cannot be uploaded does not stop the others', async (t) => {
    const { directory, objects, start, stop, steps } = await world(t)
    objects.fault = (call, key) => {
      if (call === 'put' && key.includes(nameOf(9))) throw new TransferError('Invalid', 'refused')
    }
    await save(directory, 1)
    await save(directory, 9)
    const ended = start()
    await until('the other one is uploaded', async () => (await steps()).join() === '1')
    await rm(join(directory, nameOf(9)), { recursive: true })
    stop()
    await ended
  })

  test('ends at once if there is nothing', async (t) => {
    const { start, stop, reports } = await world(t)
    stop()
    await start()
    assert.deepEqual(reports, [])
  })
})
