/** The utilization of GPUs in the status, and how often it is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'

function running(): TrainingCluster {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function use(cluster: TrainingCluster, ...values: readonly number[]): number {
  cluster.gpuUtilization = new Map(values.map((value, rank) => [`bert-workers-${rank}`, value]))
  const before = cluster.writes.length
  cluster.settle()
  return cluster.writes.length - before
}

const shown = ({ job: { status } }: TrainingCluster) => [
  status?.resources?.gpuUtilization,
  status?.workerStatuses?.map(({ gpuUtilization }) => gpuUtilization),
]

test('the average, and that of each worker', () => {
  const cluster = running()
  assert.equal(use(cluster, 80.04, 41), 1)
  assert.deepEqual(shown(cluster), [60.5, [80, 41]])
})

test('a small change is written only with another change', () => {
  const cluster = running()
  use(cluster, 80, 80)
  assert.equal(use(cluster, 85, 84), 0)
  assert.deepEqual(shown(cluster), [80, [80, 80]])
  const podUid = cluster.pods[0]?.metadata.uid ?? ''
  cluster.reports = [{ podUid, source: 'Report', receivedAt: cluster.now, report: { step: 1 } }]
  assert.equal(use(cluster, 85, 84), 1)
  assert.deepEqual(shown(cluster), [84.5, [85, 84]])
})

test('a large change is written at once, also to nothing', () => {
  const cluster = running()
  use(cluster, 80, 80)
  assert.equal(use(cluster, 0, 0), 1)
  assert.deepEqual(shown(cluster), [0, [0, 0]])
  assert.equal(use(cluster), 1)
  assert.deepEqual(shown(cluster), [undefined, [undefined, undefined]])
  assert.equal(use(cluster), 0)
})

test('only while the job runs', () => {
  const cluster = running()
  use(cluster, 80, 80)
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(shown(cluster), [undefined, []])
})
