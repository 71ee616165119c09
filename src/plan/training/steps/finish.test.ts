/** The status of a finished job: its counts, and where the log is. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'
import { planTraining } from '../lifecycle.ts'
import { ATTEMPT_LABEL } from '../names.ts'

const SPEC = { image: 'i', command: ['train'], numWorkers: 3, gpusPerWorker: 0, backoffLimit: 0 }

function started(more: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, ...more })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function podOf(cluster: TrainingCluster, index: number): Pod {
  const pod = cluster.pods[index]
  assert.ok(pod)
  return pod
}

const workersOf = ({ job }: TrainingCluster): string =>
  JSON.stringify(job.status?.workerStatuses?.map(({ workerId, phase }) => [workerId, phase]))

test('a job completes when its last worker has succeeded, and not before', () => {
  const cluster = started()
  const states = [0, 1, 2].map((index) => {
    cluster.exit(podOf(cluster, index), { exitCode: 0 })
    cluster.settle()
    return cluster.job.status?.state
  })
  assert.deepEqual(states, ['Running', 'Running', 'Completed'])
})

for (const cleanPodPolicy of ['Running', 'All', 'None'])
  test(`cleanPodPolicy ${cleanPodPolicy}: a pod of an earlier attempt that appears after the end is removed`, () => {
    const cluster = started({ cleanPodPolicy, numWorkers: 1 })
    cluster.exitAll({ exitCode: 0 })
    cluster.settle()
    cluster.letGo()
    const late = podOf(started({ numWorkers: 2 }), 1)
    const labels = { ...late.metadata.labels, [ATTEMPT_LABEL]: '0' }
    const ended = { metadata: { ...late.metadata, labels }, status: { ...late.status, phase: 'Succeeded' as const } }
    cluster.change({ ...late, ...ended })
    cluster.settle()
    cluster.letGo()
    const kept = cleanPodPolicy === 'All' ? [] : ['bert-workers-0']
    assert.deepEqual(
      cluster.pods.map(({ metadata }) => metadata.name),
      kept,
    )
    assert.equal(cluster.job.status?.state, 'Completed')
  })

describe('final counts', () => {
  test('workers that are stopped count as active while they run', () => {
    const cluster = started()
    cluster.exit(podOf(cluster, 1), { exitCode: 1 })
    cluster.pass()
    assert.equal(cluster.job.status?.state, 'Failed')
    assert.equal(cluster.job.status?.workers?.active, 2)
    cluster.settle()
    const final = { active: 0, succeeded: 0, failed: 1, pending: 0 }
    assert.deepEqual(cluster.job.status?.workers, final)
    assert.equal(workersOf(cluster), '[[1,"Failed"]]')
    cluster.letGo()
    cluster.settle()
    assert.deepEqual(cluster.job.status?.workers, final)
    assert.equal(cluster.settle(), 1)
  })

  test('a recorded failure outlives a stale cache: its pod is not stopped', () => {
    const cluster = started()
    const stale = [...cluster.pods]
    cluster.exit(podOf(cluster, 1), { exitCode: 1 })
    cluster.pass()
    const plan = planTraining({ ...cluster.observed, pods: stale })
    assert.deepEqual(
      objectsToDelete(plan).map(({ metadata }) => metadata.name),
      [podOf(cluster, 0), podOf(cluster, 2)].map(({ metadata }) => metadata.name),
    )
  })

  test('ended workers stay counted when their pods are deleted', () => {
    const cluster = started({ cleanPodPolicy: 'All', numWorkers: 2 })
    cluster.exit(podOf(cluster, 0), { exitCode: 0 })
    cluster.settle()
    cluster.exit(podOf(cluster, 1), { exitCode: 1, reason: 'OOMKilled' })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.pods.length, 0)
    assert.deepEqual(cluster.job.status?.workers, { active: 0, succeeded: 1, failed: 1, pending: 0 })
    assert.equal(cluster.job.status?.workerStatuses?.[1]?.status, 'Failed: OOMKilled')
  })

  test('cleanPodPolicy None: workers that continue are counted as they are', () => {
    const cluster = started({ cleanPodPolicy: 'None' })
    cluster.exit(podOf(cluster, 0), { exitCode: 1 })
    cluster.settle()
    assert.deepEqual(cluster.job.status?.workers, { active: 2, succeeded: 0, failed: 1, pending: 0 })
    cluster.exit(podOf(cluster, 2), { exitCode: 0 })
    cluster.settle()
    assert.deepEqual(cluster.job.status?.workers, { active: 1, succeeded: 1, failed: 1, pending: 0 })
  })

  test('roles are counted in the same way', () => {
    const roles = [{ name: 'chief' }, { name: 'ps' }]
    const cluster = started({ framework: 'tensorflow', roles })
    const chief = cluster.pods.find(({ metadata }) => metadata.name === 'bert-chief-0')
    assert.ok(chief)
    cluster.exit(chief, { exitCode: 0 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Completed')
    const none = { active: 0, succeeded: 0, failed: 0, pending: 0 }
    assert.deepEqual(cluster.job.status?.roles, [
      { name: 'chief', ...none, succeeded: 1 },
      { name: 'ps', ...none },
    ])
    assert.deepEqual(cluster.job.status?.workers, none)
  })
})

describe('where to look after a failure', () => {
  const reasonAfter = (more: object, exit: { readonly exitCode: number; readonly reason?: string }): string => {
    const cluster = started(more)
    cluster.exit(podOf(cluster, 0), exit)
    cluster.settle()
    return cluster.job.status?.reason ?? ''
  }

  test('the log of the pod, while it is kept', () => {
    assert.match(reasonAfter({}, { exitCode: 1 }), /See kubectl logs -n team-a bert-workers-0$/)
  })

  test('not the log of a pod that is removed', () => {
    const reason = reasonAfter({ cleanPodPolicy: 'All' }, { exitCode: 1 })
    assert.doesNotMatch(reason, /kubectl logs/)
    assert.match(reason, /Its log was deleted with the pod/)
  })

  test('not the log of a process that never started', () => {
    const reason = reasonAfter({}, { exitCode: 128, reason: 'StartError' })
    assert.doesNotMatch(reason, /kubectl logs/)
    assert.match(reason, /Worker 0 on \S+ could not start \(StartError\): exit code 128/)
  })
})

test('the deadline counts from startTime: waiting for a node does not count', () => {
  const cluster = new TrainingCluster({ ...SPEC, activeDeadlineSeconds: 60 })
  cluster.settle()
  cluster.now += 3_600_000
  cluster.settle()
  assert.notEqual(cluster.job.status?.state, 'Failed')
  cluster.runAll()
  cluster.settle()
  cluster.now += 59_000
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  cluster.now += 1_000
  cluster.settle()
  assert.match(cluster.job.status?.reason ?? '', /^DeadlineExceeded/)
})
