/** The attempts that have ended, in the status. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { podOf, restarted, started } from '../../../../test/sim/training-moves.ts'
import { MAX_ATTEMPTS } from '../../../api/training-history.ts'
import { timestamp } from '../../time.ts'

const historyOf = ({ job }: TrainingCluster) => job.status?.attemptHistory ?? []

test('a failure, then success: start, end, reason, size and the nodes that failed', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  const created = cluster.now
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  assert.deepEqual(historyOf(cluster), [])
  cluster.now += 60_000
  const failed = cluster.now
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' })
  restarted(cluster)
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  const [first, second, ...others] = historyOf(cluster)
  assert.deepEqual(first, {
    attempt: 1,
    startTime: timestamp(created),
    endTime: timestamp(failed),
    reason: 'OOMKilled',
    worldSize: 2,
    failedNodes: ['node-bert-workers-1'],
  })
  assert.deepEqual([second?.attempt, second?.reason, second?.failedNodes], [2, 'TrainingCompleted', undefined])
  assert.deepEqual([second?.endTime, others], [cluster.job.status?.completionTime, []])
})

test('a suspended job: the attempt ends once, with the suspension', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.edit({ suspend: false })
  cluster.settle()
  const reasons = historyOf(cluster).map(({ attempt, reason }) => `${attempt} ${reason}`)
  assert.deepEqual(reasons, ['1 Suspended'])
})

test('an attempt of which no pod has started is no part of it', () => {
  const cluster = new TrainingCluster({ image: 'i', command: ['train'] })
  cluster.settle()
  cluster.edit({ image: 'j' })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.attempts, historyOf(cluster)], [2, []])
})

test('the list is bounded, and the earliest attempts are forgotten', () => {
  const cluster = started({ numWorkers: 1, backoffLimit: 10 })
  for (let attempt = 1; attempt <= MAX_ATTEMPTS + 3; attempt += 1) {
    cluster.preempt(podOf(cluster, 'bert-workers-0'))
    restarted(cluster)
  }
  const attempts = historyOf(cluster).map(({ attempt }) => attempt)
  assert.deepEqual(
    attempts,
    Array.from({ length: MAX_ATTEMPTS }, (_, at) => at + 4),
  )
})
