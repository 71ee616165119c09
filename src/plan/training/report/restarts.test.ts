/** What counts as a restart: of the job, and of each worker. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'

const elastic = { minWorkers: 1, maxWorkers: 8 }

const counted = ({ job }: TrainingCluster): [number | undefined, number | undefined] => [
  job.status?.attempts,
  job.status?.restarts,
]

const ofWorkers = ({ job }: TrainingCluster): (number | undefined)[] =>
  (job.status?.workerStatuses ?? []).map(({ restartCount }) => restartCount)

/** Acts on what is recorded: old pods end, and those of the next attempt are created. */
function follow(cluster: TrainingCluster): void {
  cluster.settle()
  cluster.letGo()
  cluster.now += 3_600_000
  cluster.settle()
}

function running(spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster(spec)
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

for (const engine of ['pods', 'job']) {
  test(`an edit before any worker has started is no restart (${engine})`, () => {
    const cluster = new TrainingCluster({ numWorkers: 2, engine })
    cluster.settle()
    cluster.edit({ image: 'other:1' })
    follow(cluster)
    assert.deepEqual(counted(cluster), [2, 0])
    assert.deepEqual(ofWorkers(cluster), [0, 0])
  })

  test(`a failure of workers that run is a restart of all workers (${engine})`, () => {
    const cluster = running({ numWorkers: 2, engine })
    cluster.exitAll({ exitCode: 1 })
    follow(cluster)
    assert.deepEqual(counted(cluster), [2, 1])
    assert.deepEqual(ofWorkers(cluster), [1, 1])
  })
}

test('a worker that runs and vanishes is a restart, although none of its pods is left', () => {
  const cluster = running()
  for (const pod of cluster.pods) cluster.vanish(pod)
  follow(cluster)
  assert.deepEqual(counted(cluster), [2, 1])
})

test('a worker that is deleted before it starts is no restart', () => {
  const cluster = new TrainingCluster()
  cluster.settle()
  for (const pod of cluster.pods) cluster.vanish(pod)
  follow(cluster)
  assert.deepEqual(counted(cluster), [2, 0])
})

test('a job that is suspended and resumed has not restarted', () => {
  const cluster = running()
  cluster.edit({ suspend: true })
  follow(cluster)
  cluster.edit({ suspend: false })
  follow(cluster)
  assert.deepEqual(counted(cluster), [2, 0])
})

test('a change of size restarts workers that run, and no others', () => {
  const waiting = new TrainingCluster({ numWorkers: 2, elastic })
  waiting.settle()
  waiting.edit({ numWorkers: 4 })
  follow(waiting)
  assert.deepEqual(counted(waiting), [2, 0])
  const cluster = running({ numWorkers: 2, elastic })
  cluster.edit({ numWorkers: 4 })
  follow(cluster)
  assert.deepEqual(counted(cluster), [2, 1])
})

test('workers that a change of size adds start without restarts, also when they are removed and added again', () => {
  const cluster = running({ numWorkers: 2, elastic })
  const resize = (numWorkers: number): void => {
    cluster.edit({ numWorkers })
    follow(cluster)
    cluster.runAll()
    cluster.settle()
  }
  resize(4)
  assert.deepEqual(ofWorkers(cluster), [1, 1, 0, 0])
  resize(5)
  assert.deepEqual(ofWorkers(cluster), [2, 2, 1, 1, 0])
  resize(3)
  assert.deepEqual(ofWorkers(cluster), [3, 3, 2])
  resize(4)
  assert.deepEqual(ofWorkers(cluster), [4, 4, 3, 0])
  assert.equal(cluster.job.status?.restarts, 4)
})

test('restarts that an earlier release has recorded stay', () => {
  const cluster = running()
  cluster.job = { ...cluster.job, status: { ...cluster.job.status, attempts: 1, restarts: 3 } }
  cluster.exitAll({ exitCode: 1 })
  follow(cluster)
  assert.equal(cluster.job.status?.restarts, 4)
})
