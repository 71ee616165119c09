/** Failures: what is recorded, what is restarted, and after how long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { attemptsOf, MINUTE, namesOf, podOf, restarted, started } from '../../../../test/sim/training-moves.ts'
import { getCondition } from '../../../api/conditions.ts'
import { planTraining } from '../lifecycle.ts'

test('records a failure and its details before anything is deleted', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.now += 5 * MINUTE
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' })
  const decision = planTraining({
    ...cluster.observed,
    logTails: new Map([[podOf(cluster, 'bert-workers-1').metadata.uid ?? '', 'CUDA out of memory']]),
  })
  assert.deepEqual([decision.writes, decision.deletions], [[], []])
  cluster.commit(decision)
  const { status } = cluster.job
  assert.equal(status?.state, 'Restarting')
  assert.deepEqual([status?.attempts, status?.failures, status?.restartTime], [2, 1, '2026-01-01T00:05:10Z'])
  assert.deepEqual(status?.lastFailure, {
    time: '2026-01-01T00:05:00Z',
    attempt: 1,
    role: 'worker',
    worker: 1,
    podName: 'bert-workers-1',
    node: 'node-bert-workers-1',
    exitCode: 137,
    reason: 'OOMKilled',
    message: 'exit code 137',
    log: 'CUDA out of memory',
    counted: true,
  })
})

test('the old gang is gone before the new one starts', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' })
  cluster.settle()
  assert.equal(cluster.pods.length, 2, 'both are terminating')
  cluster.now += MINUTE
  cluster.settle()
  assert.deepEqual(attemptsOf(cluster), ['1'], 'no new pod while an old one is left')
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(attemptsOf(cluster), ['2'])
  assert.equal(cluster.job.status?.state, 'Restarting')
  cluster.runAll()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  assert.equal(cluster.job.status?.workerStatuses?.[0]?.restartCount, 1)
  assert.equal(cluster.job.status?.lastFailure?.reason, 'OOMKilled', 'it stays recorded')
})

test('the backoff doubles', () => {
  const cluster = started({ numWorkers: 1, backoffLimit: 10 })
  for (const seconds of [10, 20, 40, 80, 160, 320, 600, 600]) {
    cluster.exitAll({ exitCode: 1 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(planTraining(cluster.observed).requeueAfterMs, seconds * 1000)
    cluster.now += seconds * 1000
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Running')
  }
})

test('several failures at once count once', () => {
  const cluster = started({ numWorkers: 4 })
  cluster.exitAll({ exitCode: 1 })
  cluster.settle()
  assert.equal(cluster.job.status?.failures, 1)
  assert.deepEqual(cluster.events.filter((reason) => reason === 'WorkerFailed').length, 1)
})

test('the job fails at backoffLimit, and its other pods are stopped', () => {
  const cluster = started({ numWorkers: 2, backoffLimit: 1 })
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 1 })
  restarted(cluster)
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 1 })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Failed')
  assert.equal(cluster.job.status?.failures, 2)
  assert.equal(getCondition(cluster.job.status?.conditions, 'Failed')?.reason, 'BackoffLimitReached')
  assert.match(
    cluster.job.status?.reason ?? '',
    /Worker 0 on node-bert-workers-0 exited with code 1 \(Error\).*kubectl logs -n team-a bert-workers-0/,
  )
  assert.deepEqual(namesOf(cluster), ['bert-workers-0'])
})

test('a preempted worker costs no retry and no backoff', () => {
  const cluster = started({ numWorkers: 2, backoffLimit: 0 })
  cluster.now += 5 * MINUTE
  cluster.preempt(podOf(cluster, 'bert-workers-1'))
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 1 })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Restarting')
  assert.equal(cluster.job.status?.failures, 0)
  assert.deepEqual(
    [cluster.job.status?.lastFailure?.reason, cluster.job.status?.lastFailure?.counted],
    ['Preempted', false],
  )
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(attemptsOf(cluster), ['2'])
})

test('a pod that vanishes restarts the gang, without counting a failure', () => {
  const cluster = started({ numWorkers: 2, backoffLimit: 0 })
  cluster.delete(podOf(cluster, 'bert-workers-1'))
  cluster.letGo()
  cluster.settle()
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 0])
  assert.equal(cluster.job.status?.lastFailure?.reason, 'PodLost')
})

test('a worker that failed before it was deleted counts as failed', () => {
  const cluster = started({ numWorkers: 2 })
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 3 })
  cluster.now += 2000
  cluster.delete(podOf(cluster, 'bert-workers-1'))
  cluster.settle()
  assert.deepEqual([cluster.job.status?.failures, cluster.job.status?.lastFailure?.exitCode], [1, 3])
})

test('an elastic torchrun gang replaces only the failed worker, unless it is rank 0', () => {
  const spec = {
    numWorkers: 3,
    elastic: { minWorkers: 1, maxWorkers: 4 },
    image: 'i',
    command: ['torchrun', 'train.py'],
  }
  const cluster = started(spec)
  const others = namesOf(cluster).filter((name) => name !== 'bert-workers-2')
  const uids = cluster.pods.map(({ metadata }) => metadata.uid)
  cluster.now += 5 * MINUTE
  cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
  cluster.settle()
  assert.deepEqual(
    [cluster.job.status?.attempts, cluster.job.status?.failures, cluster.job.status?.state],
    [1, 1, 'Running'],
  )
  cluster.letGo()
  cluster.settle()
  assert.deepEqual(namesOf(cluster), others, 'not before the backoff is over')
  cluster.now += 10_000
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  assert.equal(cluster.pods.length, 3)
  assert.equal(cluster.pods.filter(({ metadata }) => uids.includes(metadata.uid)).length, 2)
  assert.equal(cluster.job.status?.failedPods, undefined)
  cluster.now += 5 * MINUTE
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 1 })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 2])
})

test('a pod that is stuck on a dead node is deleted by force', () => {
  const cluster = started({ numWorkers: 2 })
  const pod = podOf(cluster, 'bert-workers-1')
  const at = cluster.nodes.findIndex(({ name }) => name === pod.spec?.nodeName)
  cluster.nodes[at] = { name: pod.spec?.nodeName ?? '', ready: false, since: cluster.now }
  cluster.preempt(pod)
  cluster.settle()
  const wait = planTraining(cluster.observed).requeueAfterMs
  assert.equal(wait, cluster.config.deadNodeMs)
  assert.deepEqual(objectsToDelete(planTraining(cluster.observed), 'force'), [])
  cluster.now += wait
  assert.deepEqual(
    objectsToDelete(planTraining(cluster.observed), 'force').map(({ metadata }) => metadata.name),
    ['bert-workers-1'],
  )
})
