/** `deleteOnCompletion` with a bucket: a pod deletes the checkpoints, and a deletion never waits forever. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { MINUTE, started } from '../../../../test/sim/training-moves.ts'
import { timestamp } from '../../time.ts'
import { type DeletionPlan, planDeletion } from './deletion.ts'

function deleted(
  deleteOnCompletion: boolean,
  isHopeless = false,
): { cluster: TrainingCluster; pass: () => DeletionPlan } {
  const storage = { type: 's3', path: 's3://b/p' }
  const cluster = started({ numWorkers: 1, checkpoint: { storage, deleteOnCompletion } })
  cluster.job = { ...cluster.job, metadata: { ...cluster.job.metadata, deletionTimestamp: timestamp(cluster.now) } }
  const pass = (): DeletionPlan => {
    const plan = planDeletion(cluster.observed, { isHopeless })
    cluster.commit(plan)
    return plan
  }
  assert.equal(pass().done, false)
  cluster.letGo()
  return { cluster, pass }
}

test('deletes the checkpoints after the gang, then the job goes', () => {
  const { cluster, pass } = deleted(true)
  assert.equal(pass().done, false)
  assert.deepEqual(cluster.checkpointPod?.spec?.containers[0]?.args, [
    'agent',
    'checkpoints-delete',
    '--storage=s3://b/p',
  ])
  assert.equal(pass().done, false)
  assert.ok(cluster.checkpointPod)
  cluster.exit(cluster.checkpointPod, { exitCode: 0 })
  const last = pass()
  assert.deepEqual([last.done, last.events, cluster.pods], [true, [], []])
})

test('starts no pod unless the spec says so', () => {
  const { cluster, pass } = deleted(false)
  assert.deepEqual([pass().done, cluster.pods], [true, []])
})

test('a failure is retried, and ends with an event that says what is left', () => {
  const { cluster, pass } = deleted(true)
  let plan = pass()
  for (let round = 0; round < 30 && !plan.done; round += 1) {
    const { checkpointPod } = cluster
    if (checkpointPod) cluster.exit(checkpointPod, { exitCode: 1, message: '{"error":"access denied"}' })
    pass()
    cluster.now += MINUTE
    plan = pass()
  }
  assert.ok(plan.done)
  assert.match(plan.events[0]?.note ?? '', /s3:\/\/b\/p were not deleted: .*delete them yourself/)
  assert.ok(cluster.writes.filter((write) => write === 'create Pod/bert-checkpoints').length > 3)
})

test('a pod that never starts does not keep the job', () => {
  const { cluster, pass } = deleted(true)
  assert.equal(pass().requeueAfterMs, 10 * MINUTE)
  cluster.now += 10 * MINUTE
  assert.equal(pass().done, true)
})

test('gives up at once where nothing can be created', () => {
  const { pass } = deleted(true, true)
  const plan = pass()
  assert.equal(plan.done, true)
  assert.match(plan.events[0]?.note ?? '', /the namespace is being deleted/)
})

test('replaces a pod that lists checkpoints', () => {
  const { cluster, pass } = deleted(true)
  cluster.job = { ...cluster.job, spec: { ...cluster.job.spec, checkpoint: { ...cluster.job.spec.checkpoint } } }
  pass()
  const { checkpointPod } = cluster
  assert.ok(checkpointPod)
  const annotations = { ...checkpointPod.metadata.annotations, 'trainingjob.ml.example.com/template': 'other' }
  cluster.change({ ...checkpointPod, metadata: { ...checkpointPod.metadata, annotations } })
  assert.equal(pass().done, false)
  assert.equal(cluster.checkpointPod, undefined)
})
