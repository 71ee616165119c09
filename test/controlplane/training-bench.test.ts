/** The benchmark with a few jobs: it counts what `make bench` prints for a thousand. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { measure } from '../../scripts/bench/measure.ts'
import { startControlPlane } from '../../testenv/control-plane.ts'

const plane = await startControlPlane()
after(() => plane.stop())

test('measures the expected number of writes', async () => {
  await plane.scheduler.stop()
  const workers = 2
  const { untilPods, rounds, raw, ratios, restart } = await measure(plane.kubeconfig, {
    jobs: 3,
    workers,
    rounds: 1,
    restMs: 500,
  })
  assert.deepEqual(untilPods, { plain: workers + 2, full: workers + 4 })
  const [round] = rounds
  assert.ok(round && raw.length === 2 && ratios.every((ratio) => ratio > 0))
  assert.deepEqual([round.served.writes, round.calls.reads, round.atRest.writes], [0, 0, 0])
  assert.equal(round.calls.writes, 3 * (workers + 3))
  assert.equal(restart.calls.writes, 0)
})
