/** activeDeadlineSeconds, ttlSecondsAfterFinished and cleanPodPolicy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { MINUTE, namesOf, podOf, started } from '../../../../test/sim/training-moves.ts'
import { getCondition } from '../../../api/conditions.ts'
import { planTraining } from '../lifecycle.ts'

test('the deadline ends a job, counted from the last resume', () => {
  const cluster = started({ numWorkers: 1, activeDeadlineSeconds: 3600 })
  assert.equal(planTraining(cluster.observed).requeueAfterMs, 3_600_000)
  cluster.now += 50 * MINUTE
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.now += 600 * MINUTE
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Suspended')
  cluster.edit({ suspend: false })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.now += 50 * MINUTE
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  cluster.now += 10 * MINUTE
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Failed')
  assert.equal(getCondition(cluster.job.status?.conditions, 'Failed')?.reason, 'DeadlineExceeded')
  cluster.letGo()
  cluster.settle()
  assert.equal(cluster.pods.length, 0)
})

test('a finished job expires after its TTL', () => {
  const cluster = started({ numWorkers: 1, ttlSecondsAfterFinished: 60 })
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  assert.equal(planTraining(cluster.observed).requeueAfterMs, MINUTE)
  assert.ok(!cluster.expired)
  cluster.now += MINUTE
  assert.deepEqual(objectsToDelete(planTraining(cluster.observed), 'owner'), [cluster.job])
})

for (const [cleanPodPolicy, left] of [
  ['Running', ['bert-chief-0']],
  ['All', []],
  ['None', ['bert-chief-0', 'bert-workers-0']],
] as const) {
  test(`cleanPodPolicy ${cleanPodPolicy}`, () => {
    const cluster = started({ framework: 'tensorflow', roles: [{ name: 'chief' }], cleanPodPolicy })
    cluster.exit(podOf(cluster, 'bert-chief-0'), { exitCode: 0 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.deepEqual(namesOf(cluster).toSorted(), left)
  })
}
