/** `status.slowestWorker`: when it is set, and that it costs no writes while it lasts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { ProgressReport } from '../../../api/training-report.ts'

const MINUTE = 60_000

function running(): TrainingCluster {
  const cluster = new TrainingCluster({ numWorkers: 4 })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function sendAll(cluster: TrainingCluster, reports: readonly ProgressReport[]): void {
  cluster.reports = reports.map((report, rank) => ({
    podUid: cluster.pods[rank]?.metadata.uid ?? '',
    source: 'Report',
    receivedAt: cluster.now,
    report,
  }))
  cluster.settle()
}

const throughputs = (...values: readonly number[]): ProgressReport[] =>
  values.map((throughput) => ({ step: 5, metrics: { throughput } }))

test('a rank that is ten times slower for five minutes', () => {
  const cluster = running()
  sendAll(cluster, throughputs(100, 110, 9, 90))
  cluster.now += 4 * MINUTE
  sendAll(cluster, throughputs(100, 110, 8, 90))
  assert.equal(cluster.job.status?.slowestWorker, undefined)
  cluster.now += MINUTE
  sendAll(cluster, throughputs(100, 110, 8, 90))
  const expected = { worker: 2, podName: 'bert-workers-2', node: 'node-bert-workers-2', timesSlower: 13 }
  assert.deepEqual(cluster.job.status?.slowestWorker, expected)
  cluster.now += 20 * MINUTE
  cluster.settle()
  const before = cluster.writes.length
  cluster.reports = cluster.reports.map((one) => ({ ...one, receivedAt: cluster.now }))
  cluster.settle()
  assert.equal(cluster.writes.length, before)
  sendAll(cluster, throughputs(100, 110, 80, 90))
  assert.equal(cluster.job.status?.slowestWorker, undefined)
})

const others: readonly [string, readonly ProgressReport[], number | undefined][] = [
  ['by the time of a step', [1, 1, 1, 20].map((stepTime) => ({ metrics: { stepTime } })), 3],
  ['by steps', [{ step: 100 }, { step: 3 }, { step: 90 }], 1],
  ['five times slower', throughputs(100, 100, 20), undefined],
  ['two ranks', throughputs(100, 1), undefined],
  ['nothing comparable', [{ step: 1 }, { epoch: 1 }, { step: 100 }, { step: 100 }], undefined],
  ['a start without steps', [{ step: 0 }, { step: 0 }, { step: 0 }], undefined],
]
for (const [name, reports, worker] of others)
  test(name, () => {
    const cluster = running()
    sendAll(cluster, reports)
    cluster.now += 6 * MINUTE
    cluster.settle()
    assert.equal(cluster.job.status?.slowestWorker?.worker, worker)
  })
