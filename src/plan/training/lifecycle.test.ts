/** From the acceptance of a job to its completion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../test/sim/training-cluster.ts'
import {
  attemptsOf,
  isTrue,
  MINUTE,
  namesOf,
  podOf,
  restarted,
  started,
  worldSizes,
} from '../../../test/sim/training-moves.ts'

test('a completed job has no pending replacement, however late its success is observed', () => {
  const cluster = started({ command: ['torchrun', 'x'], numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 1 })
  cluster.pass()
  assert.equal(cluster.job.status?.failedPods?.length, 1)
  const [first, second] = cluster.pods
  assert.ok(first && second)
  const replaced = { ...second, metadata: { ...second.metadata, uid: 'another' } }
  cluster.exit(first, { exitCode: 0 })
  cluster.exit(replaced, { exitCode: 0 })
  cluster.settle()
  const { state, failedPods, restartTime, failures } = cluster.job.status ?? {}
  assert.deepEqual([state, failedPods, restartTime, failures], ['Completed', undefined, undefined, 1])
})

test('records the attempt and the finalizer before the first pod, and the status after the pods', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, checkpoint: { enabled: false } })
  cluster.pass(1)
  assert.deepEqual(cluster.writes, ['accept'])
  assert.ok(cluster.job.metadata.finalizers?.includes('trainingjob.ml.example.com/finalizer'))
  cluster.settle()
  assert.deepEqual(cluster.writes.slice(1), [
    'create Service/bert-workers',
    'create Pod/bert-workers-0',
    'create Pod/bert-workers-1',
    'status',
  ])
  const { state, attempts, worldSize } = cluster.job.status ?? {}
  assert.deepEqual([state, attempts, worldSize], ['Initializing', 1, 2])
})

test('creates a claim or a ConfigMap only when it has content', () => {
  const written = (spec: object): string[] => {
    const cluster = new TrainingCluster(spec)
    cluster.settle()
    return cluster.writes.filter((write) => /Claim|ConfigMap/.test(write))
  }
  const bucket = { storage: { type: 's3', path: 's3://bucket/run' } }
  assert.deepEqual(written({ checkpoint: bucket }), [])
  assert.deepEqual(written({}), ['create PersistentVolumeClaim/bert-checkpoints'])
  assert.deepEqual(written({ checkpoint: bucket, hyperparameters: { lr: 1 } }), ['create ConfigMap/bert-config'])
  assert.deepEqual(written({ checkpoint: bucket, framework: 'mpi' }), ['create ConfigMap/bert-config'])
})

test('a resize between acceptance and the first pods does not mix two sizes', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
  cluster.pass(4)
  assert.deepEqual(namesOf(cluster), ['bert-workers-0'])
  assert.ok(!cluster.writes.includes('status'))
  cluster.edit({ numWorkers: 3 })
  restarted(cluster)
  assert.deepEqual(worldSizes(cluster), ['3', '3', '3'])
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 0])
})

test('recreates pods that were deleted while no operator ran, without counting a failure', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.pass(5)
  cluster.runAll()
  for (const pod of cluster.pods) cluster.delete(pod)
  cluster.letGo()
  assert.deepEqual([cluster.pods.length, cluster.writes.includes('status')], [0, false])
  cluster.settle()
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures, attemptsOf(cluster)], [1, 0, ['1']])
})

test('a failure before the first status is counted once', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.pass(5)
  cluster.runAll()
  cluster.exitAll({ exitCode: 1 })
  restarted(cluster)
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 1])
})

test('a job suspended before its first status stops, and resumes as another attempt', () => {
  const cluster = new TrainingCluster({ numWorkers: 2 })
  cluster.pass(4)
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, cluster.pods.length], ['Suspended', 0])
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.attempts, cluster.pods.length], [2, 2])
})

test('goes from Pending to Completed, with one event for each transition', () => {
  const cluster = new TrainingCluster({ numWorkers: 2, gpusPerWorker: 4 })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  const { status } = cluster.job
  assert.equal(status?.state, 'Running')
  assert.deepEqual(status?.workers, { active: 2, succeeded: 0, failed: 0, pending: 0 })
  assert.deepEqual(status?.resources, { allocatedGPUs: 8, allocatedNodes: 2 })
  assert.ok(isTrue(cluster, 'WorkersReady') && isTrue(cluster, 'Running') && !isTrue(cluster, 'Complete'))
  cluster.now += 90 * MINUTE
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  const end = cluster.job.status
  assert.equal(end?.state, 'Completed')
  assert.equal(end?.duration, '1h 30m')
  assert.equal(end?.completionTime, '2026-01-01T01:30:00Z')
  assert.deepEqual(end?.resources, { allocatedGPUs: 0, allocatedNodes: 0 })
  assert.ok(isTrue(cluster, 'Complete') && !isTrue(cluster, 'Running'))
  assert.deepEqual(cluster.events, ['WorkersCreated', 'Created', 'TrainingStarted', 'TrainingCompleted'])
  assert.equal(cluster.pods.length, 2, 'succeeded pods stay, for their logs')
})

test('an idle job costs no write, however much time passes', () => {
  const cluster = started({ numWorkers: 3 })
  const before = cluster.writes.length
  for (let hour = 0; hour < 10; hour += 1) {
    cluster.now += 60 * MINUTE
    assert.equal(cluster.settle(), 1)
  }
  assert.equal(cluster.writes.length, before)
})

test('the status of a thousand workers stays below 100 kB', () => {
  const { status } = started({ numWorkers: 1000 }).job
  assert.equal(status?.workers?.active, 1000)
  assert.ok(JSON.stringify(status).length < 100_000)
})

test('a succeeded worker stays succeeded when its pod is deleted', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 0 })
  cluster.settle()
  cluster.delete(podOf(cluster, 'bert-workers-1'))
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(namesOf(cluster), ['bert-workers-0'])
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 0 })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Completed')
})

test('the success of the chief completes the job and stops the other pods', () => {
  const roles = [{ name: 'chief' }, { name: 'ps', replicas: 2 }]
  const cluster = started({ framework: 'tensorflow', numWorkers: 1, roles })
  assert.equal(cluster.pods.length, 4)
  assert.deepEqual(cluster.job.status?.roles, [
    { name: 'chief', active: 1, succeeded: 0, failed: 0, pending: 0 },
    { name: 'ps', active: 2, succeeded: 0, failed: 0, pending: 0 },
  ])
  cluster.exit(podOf(cluster, 'bert-chief-0'), { exitCode: 0 })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Completed')
  assert.deepEqual(namesOf(cluster), ['bert-chief-0'])
})

test('an MPI launcher starts when all workers run, after the Secret with its keys', () => {
  const cluster = new TrainingCluster({ framework: 'mpi', numWorkers: 2 })
  cluster.settle()
  assert.deepEqual(namesOf(cluster), ['bert-workers-0', 'bert-workers-1'])
  assert.deepEqual([...cluster.secrets], ['bert-ssh-uid-of-j'])
  assert.ok(
    cluster.writes.indexOf('create Secret/bert-ssh-uid-of-j') < cluster.writes.indexOf('create Pod/bert-workers-0'),
  )
  cluster.runAll()
  cluster.settle()
  assert.ok(namesOf(cluster).includes('bert-launcher-0'))
  cluster.runAll()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  cluster.exit(podOf(cluster, 'bert-launcher-0'), { exitCode: 0 })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Completed')
})
