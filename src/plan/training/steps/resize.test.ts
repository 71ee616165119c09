/** A changed number of workers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { started, worldSizes } from '../../../../test/sim/training-moves.ts'

for (const to of [4, 1]) {
  test(`from 2 to ${to}: one size for all ranks`, () => {
    const cluster = started({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 8 } })
    cluster.edit({ numWorkers: to })
    cluster.settle()
    assert.deepEqual(worldSizes(cluster), ['2', '2'])
    cluster.letGo()
    cluster.settle()
    assert.deepEqual(
      worldSizes(cluster),
      Array.from({ length: to }, () => String(to)),
    )
    assert.deepEqual([cluster.job.status?.worldSize, cluster.job.status?.failures], [to, 0])
    assert.ok(cluster.events.includes('Scaled'))
  })
}

test('a resize during the creation of a gang does not mix two sizes', () => {
  const cluster = new TrainingCluster({ numWorkers: 3, elastic: { minWorkers: 1, maxWorkers: 8 } })
  cluster.pass(4)
  assert.equal(cluster.pods.length, 1)
  cluster.edit({ numWorkers: 2 })
  cluster.settle()
  assert.deepEqual(worldSizes(cluster), ['2', '2'])
})
