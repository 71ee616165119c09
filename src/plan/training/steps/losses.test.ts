/** Workers that fail, observed or not: the count is exact where a failure was observed, and never bypassed where not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { trainingJobV1 } from '../../../api/trainingjob.v1.ts'
import { fits } from '../../../api/validity.ts'

const MINUTE = 60_000
const SPEC = { image: 'i', command: ['train'], numWorkers: 2, gpusPerWorker: 0, checkpoint: { enabled: false } }

function runs(cluster: TrainingCluster): void {
  for (let round = 0; round < 3; round += 1) {
    cluster.settle()
    cluster.letGo()
    cluster.now += 15 * MINUTE
  }
  cluster.settle()
  cluster.runAll()
  cluster.settle()
}

/** A worker fails; unless it is observed, its pod is deleted before the operator observes it. */
function failWorker(cluster: TrainingCluster, index: number, isObserved: boolean): void {
  const pod = cluster.pods[index]
  assert.ok(pod)
  cluster.exit(pod, { exitCode: 1 })
  if (isObserved) cluster.pass()
  const known = cluster.pods.find(({ metadata }) => metadata.uid === pod.metadata.uid)
  if (known) cluster.vanish(known)
}

test('losses that nothing explains count from the third in a row', () => {
  const cluster = new TrainingCluster({ ...SPEC, backoffLimit: 2 })
  const counts: (number | undefined)[] = []
  while (cluster.job.status?.state !== 'Failed' && counts.length < 10) {
    runs(cluster)
    failWorker(cluster, 1, false)
    cluster.settle()
    counts.push(cluster.job.status?.failures)
  }
  assert.deepEqual(counts, [0, 0, 1, 2, 3])
  const { state, reason, unexplainedLosses } = cluster.job.status ?? {}
  assert.deepEqual([state, unexplainedLosses], ['Failed', 5])
  assert.match(reason ?? '', /^BackoffLimitReached: Worker 1 was lost \(PodLost\)/)
})

test('an explained loss resets the count', () => {
  const cluster = new TrainingCluster({ ...SPEC, backoffLimit: 0 })
  for (let round = 0; round < 5; round += 1) {
    for (let loss = 0; loss < 2; loss += 1) {
      runs(cluster)
      failWorker(cluster, 0, false)
      cluster.settle()
    }
    assert.equal(cluster.job.status?.unexplainedLosses, 2)
    runs(cluster)
    const [pod] = cluster.pods
    assert.ok(pod)
    cluster.preempt(pod)
    cluster.settle()
    assert.equal(cluster.job.status?.unexplainedLosses, undefined)
  }
  assert.deepEqual([cluster.job.status?.failures, cluster.job.status?.attempts], [0, 16])
})

test('counts an elastic worker that is lost repeatedly', () => {
  const elastic = { minWorkers: 1, maxWorkers: 4 }
  const cluster = new TrainingCluster({ ...SPEC, command: ['torchrun', 'x'], elastic, backoffLimit: 1 })
  let losses = 0
  while (cluster.job.status?.state !== 'Failed' && losses < 10) {
    runs(cluster)
    failWorker(cluster, 1, false)
    cluster.settle()
    losses += 1
  }
  assert.equal(losses, 4)
  assert.deepEqual([cluster.job.status?.failures, cluster.job.status?.attempts], [2, 1])
})

/** Park and Miller: the same sequence in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test('1,000 failing workers, half of them unobserved, with a crash after any write: the count is exact', () => {
  const next = random(7)
  let failed = 0
  while (failed < 1000) {
    const backoffLimit = Math.floor(next() * 11)
    const cluster = new TrainingCluster({ ...SPEC, backoffLimit })
    let [failures, losses] = [0, 0]
    while (failures <= backoffLimit) {
      cluster.pass(Math.floor(next() * 5))
      runs(cluster)
      const isObserved = next() < 0.5
      failWorker(cluster, next() < 0.5 ? 0 : 1, isObserved)
      failed += 1
      losses = isObserved ? 0 : losses + 1
      if (isObserved || losses > 2) failures += 1
      cluster.pass(Math.floor(next() * 3))
      cluster.settle()
      assert.equal(cluster.job.status?.failures, failures)
      assert.equal(cluster.job.status?.state === 'Failed', failures > backoffLimit)
    }
    assert.ok(fits(trainingJobV1.status, cluster.job.status ?? {}))
  }
})
