/** Ten thousand histories against the oracles. A seed that fails can be played by itself: `SEED=123 node --test …`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Seeds } from '../../../test/sim/serving-histories-worker.ts'

const HISTORIES = 10_000
const WORKER = new URL('../../../test/sim/serving-histories-worker.ts', import.meta.url)

async function played(seeds: Seeds, signal: AbortSignal): Promise<number> {
  const worker = new Worker(WORKER, { workerData: seeds })
  signal.addEventListener('abort', () => void worker.terminate())
  const [writes] = await once(worker, 'message')
  return Number(writes)
}

test('random histories of specs, readiness, failed pods and delayed observations violate no oracle', async (t) => {
  const only = process.env['SEED']
  const [start, last] = only === undefined ? [1, HISTORIES] : [Number(only), Number(only)]
  const step = only === undefined ? Math.min(4, availableParallelism()) : 1
  const stop = new AbortController()
  const threads = Array.from({ length: step }, (_, index) => played({ first: start + index, last, step }, stop.signal))
  const counts = await Promise.all(threads).finally(() => stop.abort())
  const writes = counts.reduce((sum, count) => sum + count, 0)
  assert.ok(writes > last - start)
  t.diagnostic(`${last - start + 1} histories, ${writes} writes judged, 0 violations`)
})
