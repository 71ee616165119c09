/** Writes that the API server rejects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../test/sim/training-cluster.ts'
import { getCondition } from '../../api/conditions.ts'
import { planRejection } from './lifecycle.ts'

test('records why a write was rejected, and writes nothing else', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.pass(1)
  const plan = planRejection(cluster.observed, { reason: 'QuotaExceeded', message: 'quota gpus is exceeded' })
  assert.deepEqual([plan.writes, plan.deletions], [[], []])
  cluster.commit(plan)
  assert.equal(cluster.job.status?.reason, 'QuotaExceeded: quota gpus is exceeded')
  assert.deepEqual(cluster.events, ['ReconcileFailed'])
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Initializing')
})

test('the result of a finished job stays, whatever is rejected while it is cleaned up', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, backoffLimit: 0 })
  cluster.settle()
  cluster.runAll()
  const [pod] = cluster.pods
  assert.ok(pod)
  cluster.exit(pod, { exitCode: 3 })
  cluster.pass()
  const { status } = cluster.job
  assert.equal(status?.state, 'Failed')
  const plan = planRejection(cluster.observed, { reason: 'Forbidden', message: 'a policy keeps pods' })
  assert.deepEqual([plan.writes, plan.deletions, plan.status], [[], [], undefined])
  assert.deepEqual(
    plan.events.map(({ reason, note }) => `${reason}: ${note}`),
    ['ReconcileFailed: Forbidden: a policy keeps pods'],
  )
})

test('a name conflict keeps the job Pending, with the reason and the condition Conflict', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.pass(1)
  const conflict = { reason: 'Conflict', message: 'Service/bert-workers already exists' }
  for (let tries = 0; tries < 3; tries++) cluster.commit(planRejection(cluster.observed, conflict))
  const { state, reason, conditions, failures } = cluster.job.status ?? {}
  assert.deepEqual([state, reason, failures], ['Pending', 'Conflict: Service/bert-workers already exists', 0])
  assert.equal(getCondition(conditions, 'Conflict')?.status, 'True')
  assert.deepEqual(cluster.events, ['Conflict'], 'one event')
  cluster.settle()
  assert.equal(getCondition(cluster.job.status?.conditions, 'Conflict'), undefined)
})
