/** Suspend and resume. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { attemptsOf, isTrue, namesOf, started } from '../../../../test/sim/training-moves.ts'

test('frees all resources, counts no failure, and completes after it is resumed', () => {
  const cluster = started({ numWorkers: 2, gpusPerWorker: 1 })
  cluster.edit({ suspend: true })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Suspending')
  cluster.letGo()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Suspended')
  assert.deepEqual(cluster.job.status?.resources, { allocatedGPUs: 0, allocatedNodes: 0 })
  assert.ok(isTrue(cluster, 'Suspended'))
  assert.deepEqual(namesOf(cluster), [])
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Initializing')
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  assert.deepEqual(
    [cluster.job.status?.state, cluster.job.status?.failures, cluster.job.status?.attempts],
    ['Completed', 0, 2],
  )
  assert.ok(cluster.events.includes('Suspended') && cluster.events.includes('Resumed'))
})

test('a started suspension is completed, even if the spec changes back', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Suspending')
  cluster.letGo()
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, attemptsOf(cluster)], ['Initializing', ['2']])
})

test('a job created suspended creates nothing until it is resumed', () => {
  const cluster = new TrainingCluster({ suspend: true })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, cluster.pods.length], ['Suspended', 0])
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.equal(cluster.pods.length, 1)
})
