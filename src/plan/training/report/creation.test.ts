/** The condition `ResourcesCreated` and the event `Created`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { getCondition } from '../../../api/conditions.ts'

function creation({ job }: TrainingCluster): readonly (string | undefined)[] {
  const { status, reason, message } = getCondition(job.status?.conditions, 'ResourcesCreated') ?? {}
  return [status, reason, message]
}

const created = ({ events }: TrainingCluster): number => events.filter((reason) => reason === 'Created').length

for (const [engine, reason] of [
  ['pods', 'PodsCreated'],
  ['job', 'JobCreated'],
] as const)
  test(`true with the first status, without a write of its own (${engine})`, () => {
    const cluster = new TrainingCluster({ numWorkers: 2, engine })
    cluster.pass()
    assert.equal(cluster.writes.filter((write) => write === 'status').length, 1)
    assert.deepEqual(creation(cluster), ['True', reason, 'Created all 2 pods'])
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    assert.equal(created(cluster), 1)
  })

test('false without pods: suspended, and while a restart waits; the event is not repeated', () => {
  const cluster = new TrainingCluster({ suspend: true })
  cluster.settle()
  assert.deepEqual(creation(cluster), ['False', 'Suspended', ''])
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.deepEqual(creation(cluster), ['True', 'PodsCreated', 'Created 1 pod'])
  cluster.runAll()
  cluster.exitAll({ exitCode: 1 })
  cluster.settle()
  assert.deepEqual(creation(cluster), ['False', 'Restarting', ''])
  cluster.letGo()
  cluster.now += 3_600_000
  cluster.settle()
  assert.deepEqual([creation(cluster)[0], created(cluster)], ['True', 1])
})

test('a role that starts after the workers is created last', () => {
  const cluster = new TrainingCluster({ framework: 'mpi', numWorkers: 2 })
  cluster.settle()
  assert.deepEqual(creation(cluster), ['False', 'Initializing', 'Created 2 of 3 pods'])
  cluster.runAll()
  cluster.settle()
  assert.deepEqual([creation(cluster), created(cluster)], [['True', 'PodsCreated', 'Created all 3 pods'], 1])
})

test('stays as it was when the job has finished', () => {
  const cluster = new TrainingCluster({ cleanPodPolicy: 'All' })
  cluster.settle()
  cluster.runAll()
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(creation(cluster), ['True', 'PodsCreated', 'Created 1 pod'])
})

test('true in the status of the end, if no pass has recorded the last pod before', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, cleanPodPolicy: 'None' })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  const { status = {} } = cluster.job
  const conditions = status.conditions?.map((one) =>
    one.type === 'ResourcesCreated' ? { ...one, status: 'False' as const, message: 'Created 1 of 2 pods' } : one,
  )
  cluster.job = { ...cluster.job, status: { ...status, ...(conditions && { conditions }) } }
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, creation(cluster)[2]], ['Completed', 'Created all 2 pods'])
})
