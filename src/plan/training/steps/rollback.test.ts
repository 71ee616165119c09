/** A gang that is created only in part, because the API server rejects the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { planRejection } from '../lifecycle.ts'
import { ATTEMPT_LABEL } from '../names.ts'

const SPEC = { image: 'i', command: ['train'], numWorkers: 2, gpusPerWorker: 0, checkpoint: { enabled: false } }
const QUOTA = { reason: 'QuotaExceeded', message: 'quota small is exceeded' }

/** One pass under a quota of one pod: the second is rejected, and that is recorded. */
function rejectedPass(cluster: TrainingCluster): void {
  const { observed } = cluster
  const service = cluster.writes.some((write) => write.startsWith('create Service')) ? 0 : 1
  cluster.pass(cluster.pods.length === 0 ? service + 1 : 0)
  cluster.commit(planRejection(observed, QUOTA))
}

function rejected(more: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, ...more })
  cluster.pass(1)
  rejectedPass(cluster)
  assert.equal(cluster.pods.length, 1)
  return cluster
}

test('records the rollback before it deletes pods, and counts no failure', () => {
  const cluster = rejected()
  cluster.runAll()
  const { length } = cluster.writes
  rejectedPass(cluster)
  assert.deepEqual(cluster.writes.slice(length), ['status'])
  const { attempts, failures, reason, restartTime } = cluster.job.status ?? {}
  assert.deepEqual([attempts, failures, reason], [2, 0, 'QuotaExceeded: quota small is exceeded'])
  assert.ok(restartTime)
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.deepEqual([cluster.pods.length, cluster.job.status?.reason], [0, reason])
  cluster.now += 60_000
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  assert.deepEqual(
    cluster.pods.map(({ metadata }) => metadata.labels?.[ATTEMPT_LABEL]),
    ['2', '2'],
  )
  assert.deepEqual([cluster.job.status?.state, cluster.job.status?.restartTime], ['Running', undefined])
})

test('a worker that succeeded alone does not complete the job', () => {
  const cluster = rejected()
  cluster.runAll()
  cluster.exitAll({ exitCode: 0 })
  rejectedPass(cluster)
  cluster.settle()
  cluster.letGo()
  cluster.now += 60_000
  cluster.settle()
  assert.deepEqual([cluster.job.status?.workers?.succeeded, cluster.pods.length], [0, 2])
})

test('retries become rarer, up to the limit', () => {
  const cluster = rejected()
  const pauses: number[] = []
  for (let round = 0; round < 12; round += 1) {
    rejectedPass(cluster)
    pauses.push((Date.parse(cluster.job.status?.restartTime ?? '') - cluster.now) / 1000)
    cluster.settle()
    cluster.letGo()
    cluster.now = Date.parse(cluster.job.status?.restartTime ?? '')
    rejectedPass(cluster)
  }
  assert.deepEqual(pauses.slice(0, 5), [10, 10, 20, 40, 80])
  assert.equal(pauses.at(-1), 600)
})

test('an elastic gang continues with the pods that it has', () => {
  const cluster = rejected({ command: ['torchrun', 'x'], elastic: { minWorkers: 1, maxWorkers: 4 } })
  rejectedPass(cluster)
  assert.deepEqual([cluster.job.status?.attempts, cluster.pods.length], [1, 1])
})

test('rolls back nothing where nothing was created', () => {
  const cluster = new TrainingCluster(SPEC)
  cluster.pass(2)
  cluster.commit(planRejection(cluster.observed, QUOTA))
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.restartTime], [1, undefined])
})
