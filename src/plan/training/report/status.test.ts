/** The columns of `kubectl get tj`, and the selector of the scale subresource. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'

const shown = ({ job }: TrainingCluster): [string | undefined, number | undefined] => [
  job.status?.ready,
  job.status?.restarts,
]

test('pods that are ready and restarts, from the first status on', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.settle()
  assert.deepEqual(shown(cluster), ['0/2', 0])
  cluster.runAll()
  cluster.settle()
  assert.deepEqual(shown(cluster), ['2/2', 0])
  cluster.exitAll({ exitCode: 1 })
  cluster.settle()
  assert.deepEqual(shown(cluster), ['0/2', 1])
})

test('a job that is created suspended', () => {
  const cluster = new TrainingCluster({ numWorkers: 4, suspend: true })
  cluster.settle()
  assert.deepEqual(shown(cluster), ['0/4', 0])
})

test('roles count', () => {
  const roles = [{ name: 'ps', replicas: 2 }]
  const cluster = new TrainingCluster({ framework: 'tensorflow', numWorkers: 1, roles })
  cluster.settle()
  assert.deepEqual(shown(cluster), ['0/3', 0])
})

test('messages count pods where a job has roles, and workers where it has none', () => {
  const reasons = (spec: object): (string | undefined)[] => {
    const cluster = new TrainingCluster(spec)
    cluster.settle()
    const waiting = cluster.job.status?.reason
    cluster.runAll()
    cluster.settle()
    const ready = cluster.job.status?.conditions?.find(({ type }) => type === 'WorkersReady')
    return [waiting, ready?.message, cluster.job.status?.reason]
  }
  const roles = [{ name: 'ps', replicas: 2 }]
  assert.deepEqual(reasons({}), ['WorkersStarting: 0 of 1 worker running', '1 of 1 worker running', undefined])
  assert.deepEqual(reasons({ framework: 'tensorflow', roles }), [
    'WorkersStarting: 0 of 3 pods running',
    '3 of 3 pods running',
    undefined,
  ])
})

test('a completed job keeps its count when its pods are deleted', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, cleanPodPolicy: 'All' })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(cluster.pods, [])
  assert.deepEqual(shown(cluster), ['2/2', 0])
})

test('the selector selects the workers of this job', () => {
  const cluster = new TrainingCluster({ framework: 'tensorflow', roles: [{ name: 'chief' }] })
  cluster.settle()
  const wanted = (cluster.job.status?.selector ?? '').split(',').map((term) => term.split('='))
  const selected = cluster.pods.filter(({ metadata }) =>
    wanted.every(([label = '', value]) => metadata.labels?.[label] === value),
  )
  assert.deepEqual(
    selected.map(({ metadata }) => metadata.name),
    ['bert-workers-0'],
  )
})
