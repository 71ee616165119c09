/** The history of a finished job: written once, before the clean-up, and never in the way of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { planRejection } from '../lifecycle.ts'

const HISTORY = 'create ConfigMap/bert-history'

function finished({
  retention = 'WithJob',
  ...spec
}: { retention?: 'WithJob' | 'Keep'; [field: string]: unknown } = {}) {
  const cluster = new TrainingCluster({ numWorkers: 2, ...spec })
  Object.assign(cluster.config, { history: { enabled: true, retention } })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 0 })
  cluster.pass()
  return cluster
}

test('a job without histories writes nothing more', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, cluster.job.status?.history], ['Completed', undefined])
  assert.ok(!cluster.writes.includes(HISTORY))
})

for (const retention of ['WithJob', 'Keep'] as const)
  test(`${retention}: one write between the end and the clean-up`, () => {
    const cluster = finished({ retention, cleanPodPolicy: 'All' })
    assert.deepEqual(cluster.job.status?.history, { configMapName: 'bert-history' })
    const before = cluster.writes.length
    cluster.settle()
    const pods = ['delete Pod/bert-workers-0', 'delete Pod/bert-workers-1']
    assert.deepEqual(cluster.writes.slice(before, before + 3), [HISTORY, ...pods])
    assert.equal(cluster.writes.filter((write) => write === HISTORY).length, 1)
    assert.equal(cluster.history?.metadata.ownerReferences?.length, retention === 'Keep' ? undefined : 1)
    const { status } = cluster.job
    assert.equal(status?.attemptHistory?.length, 1)
  })

test('a job expires only when its history is kept', () => {
  const cluster = finished({ retention: 'Keep', ttlSecondsAfterFinished: 0 })
  for (let pass = 0; pass < 3; pass += 1) cluster.pass()
  assert.ok(cluster.writes.indexOf(HISTORY) < cluster.writes.indexOf('delete TrainingJob'))
  assert.ok(cluster.writes.includes(HISTORY))
})

test('the retained history of an earlier job of the name is replaced', () => {
  const cluster = finished({ retention: 'Keep' })
  cluster.settle()
  const { metadata, ...rest } = cluster.history ?? { metadata: { name: '' } }
  const labels = { ...metadata.labels, 'trainingjob.ml.example.com/job-uid': 'earlier' }
  cluster.history = { ...rest, apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, labels, uid: 'earlier' } }
  const before = cluster.writes.length
  cluster.settle()
  assert.deepEqual(cluster.writes.slice(before), ['delete ConfigMap/bert-history', HISTORY])
  assert.equal(cluster.history.metadata.labels?.['trainingjob.ml.example.com/job-uid'], cluster.job.metadata.uid)
})

test('a history that cannot be written is given up, said, and does not keep the pods', () => {
  const cluster = finished({ cleanPodPolicy: 'All' })
  const conflict = { reason: 'Conflict', message: 'ConfigMap/bert-history already exists' }
  cluster.commit(planRejection(cluster.observed, conflict))
  assert.deepEqual(cluster.job.status?.history, { message: 'Conflict: ConfigMap/bert-history already exists' })
  assert.equal(cluster.job.status?.state, 'Completed')
  assert.equal(cluster.events.filter((reason) => reason === 'Conflict').length, 1)
  cluster.settle()
  assert.ok(!cluster.writes.includes(HISTORY))
  assert.ok(cluster.writes.includes('delete Pod/bert-workers-0'))
})
