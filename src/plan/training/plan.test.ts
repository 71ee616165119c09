/** The life of a job, told in scenes: what users and nodes do, and what is to be seen then. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getCondition } from '../../api/conditions.ts'
import type { Pod } from '../../kube/resources.ts'
import { ATTEMPT_LABEL } from './names.ts'
import { planDeletion, planRefusal, planTraining } from './plan.ts'
import { SimulatedCluster } from '../../../test/simulated-cluster.ts'

const MINUTE = 60_000

function started(spec: object = {}): SimulatedCluster {
  const cluster = new SimulatedCluster(spec)
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function podOf(cluster: SimulatedCluster, name: string): Pod {
  const pod = cluster.pods.find(({ metadata }) => metadata.name.startsWith(name))
  assert.ok(pod, `${name} is not there: ${cluster.pods.map(({ metadata }) => metadata.name).join(', ')}`)
  return pod
}

const namesOf = (cluster: SimulatedCluster): string[] => cluster.pods.map(({ metadata }) => metadata.name)
const attemptsOf = (cluster: SimulatedCluster): string[] => [
  ...new Set(cluster.pods.map(({ metadata }) => metadata.labels?.[ATTEMPT_LABEL] ?? '')),
]
const worldSizes = (cluster: SimulatedCluster): (string | undefined)[] =>
  cluster.pods.map(({ spec }) => spec?.containers[0]?.env?.find(({ name }) => name === 'WORLD_SIZE')?.value)
const isTrue = ({ job }: SimulatedCluster, type: string): boolean =>
  getCondition(job.status?.conditions, type)?.status === 'True'

/** Lets the old gang go and the pause pass, and starts the next. */
function restarted(cluster: SimulatedCluster): void {
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.now += 10 * MINUTE
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.runAll()
  cluster.settle()
}

describe('the way to completion', () => {
  test('the end leaves no replacement under way, however late it is noticed', () => {
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

  test('the attempt is on record before the first pod, with the finalizer; the status follows the pods', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2, checkpoint: { enabled: false } })
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

  test('a claim and a ConfigMap are made only for what they carry', () => {
    const written = (spec: object): string[] => {
      const cluster = new SimulatedCluster(spec)
      cluster.settle()
      return cluster.writes.filter((write) => /Claim|ConfigMap/.test(write))
    }
    const bucket = { storage: { type: 's3', path: 's3://bucket/run' } }
    assert.deepEqual(written({ checkpoint: bucket }), [])
    assert.deepEqual(written({}), ['create PersistentVolumeClaim/bert-checkpoints'])
    assert.deepEqual(written({ checkpoint: bucket, hyperparameters: { lr: 1 } }), ['create ConfigMap/bert-config'])
    assert.deepEqual(written({ checkpoint: bucket, framework: 'mpi' }), ['create ConfigMap/bert-config'])
  })

  test('a change of size between acceptance and the first pods does not mix two sizes', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
    cluster.pass(4)
    assert.deepEqual(namesOf(cluster), ['bert-workers-0'])
    assert.ok(!cluster.writes.includes('status'))
    cluster.edit({ numWorkers: 3 })
    restarted(cluster)
    assert.deepEqual(worldSizes(cluster), ['3', '3', '3'])
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 0])
  })

  test('pods that came and went while no operator ran are made again, without a retry', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2 })
    cluster.pass(5)
    cluster.runAll()
    for (const pod of cluster.pods) cluster.delete(pod)
    cluster.letGo()
    assert.deepEqual([cluster.pods.length, cluster.writes.includes('status')], [0, false])
    cluster.settle()
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures, attemptsOf(cluster)], [1, 0, ['1']])
  })

  test('a failure before the first status is counted once', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2 })
    cluster.pass(5)
    cluster.runAll()
    cluster.exitAll({ exitCode: 1 })
    restarted(cluster)
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 1])
  })

  test('suspended before the first status: what was begun is ended, and goes on as another attempt', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2 })
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

  test('from Pending to Completed, with one event for each turn', () => {
    const cluster = new SimulatedCluster({ numWorkers: 2, gpusPerWorker: 4 })
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
    assert.deepEqual(cluster.events, ['WorkersCreated', 'TrainingStarted', 'TrainingCompleted'])
    assert.equal(cluster.pods.length, 2, 'those who are done stay, for their logs')
  })

  test('a job at rest costs nothing, however time passes', () => {
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

  test('a worker that was done stays done when its pod is tidied away', () => {
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

  test('the chief decides, and those who would run for ever are stopped', () => {
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

  test('an MPI launcher starts when all workers answer, with keys that were made before', () => {
    const cluster = new SimulatedCluster({ framework: 'mpi', numWorkers: 2 })
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
})

describe('failure', () => {
  test('is stored, with what is known about it, before anything is deleted', () => {
    const cluster = started({ numWorkers: 2 })
    cluster.now += 5 * MINUTE
    cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' })
    const decision = planTraining({
      ...cluster.observed,
      logTails: new Map([[podOf(cluster, 'bert-workers-1').metadata.uid ?? '', 'CUDA out of memory']]),
    })
    assert.deepEqual([decision.apply, decision.prune], [[], []])
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
    assert.equal(cluster.pods.length, 2, 'both are on their way out')
    cluster.now += MINUTE
    cluster.settle()
    assert.deepEqual(attemptsOf(cluster), ['1'], 'nothing new while one of the old is left')
    cluster.letGo()
    cluster.settle()
    assert.deepEqual(attemptsOf(cluster), ['2'])
    assert.equal(cluster.job.status?.state, 'Restarting')
    cluster.runAll()
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Running')
    assert.equal(cluster.job.status?.workerStatuses?.[0]?.restartCount, 1)
    assert.equal(cluster.job.status?.lastFailure?.reason, 'OOMKilled', 'and it is not forgotten')
  })

  test('the pause doubles', () => {
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

  test('several at once are one failure', () => {
    const cluster = started({ numWorkers: 4 })
    cluster.exitAll({ exitCode: 1 })
    cluster.settle()
    assert.equal(cluster.job.status?.failures, 1)
    assert.deepEqual(cluster.events.filter((reason) => reason === 'WorkerFailed').length, 1)
  })

  test('the limit ends it, and the others are stopped', () => {
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
      /worker 0 on node-bert-workers-0 exited 1 \(Error\).*kubectl logs -n team-a bert-workers-0/,
    )
    assert.deepEqual(namesOf(cluster), ['bert-workers-0'])
  })

  test('a preempted worker costs no retry and no pause', () => {
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

  test('a pod that vanishes without a trace restarts the gang, free', () => {
    const cluster = started({ numWorkers: 2, backoffLimit: 0 })
    cluster.delete(podOf(cluster, 'bert-workers-1'))
    cluster.letGo()
    cluster.settle()
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.failures], [2, 0])
    assert.equal(cluster.job.status?.lastFailure?.reason, 'PodLost')
  })

  test('a worker that had failed before somebody deleted it has failed', () => {
    const cluster = started({ numWorkers: 2 })
    cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 3 })
    cluster.now += 2000
    cluster.delete(podOf(cluster, 'bert-workers-1'))
    cluster.settle()
    assert.deepEqual([cluster.job.status?.failures, cluster.job.status?.lastFailure?.exitCode], [1, 3])
  })

  test('an elastic torchrun gang replaces only who failed, unless it was rank 0', () => {
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
    assert.deepEqual(namesOf(cluster), others, 'not before the pause is over')
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

  test('a pod that cannot end on a node that is gone is given up after a while', () => {
    const cluster = started({ numWorkers: 2 })
    const pod = podOf(cluster, 'bert-workers-1')
    const at = cluster.nodes.findIndex(({ name }) => name === pod.spec?.nodeName)
    cluster.nodes[at] = { name: pod.spec?.nodeName ?? '', ready: false, since: cluster.now }
    cluster.preempt(pod)
    cluster.settle()
    const wait = planTraining(cluster.observed).requeueAfterMs
    assert.equal(wait, cluster.config.deadNodeMs)
    assert.equal(planTraining(cluster.observed).force, undefined)
    cluster.now += wait
    assert.deepEqual(
      planTraining(cluster.observed).force?.map(({ metadata }) => metadata.name),
      ['bert-workers-1'],
    )
  })
})

describe('suspend and resume', () => {
  test('frees everything, costs nothing, and finishes', () => {
    const cluster = started({ numWorkers: 2, gpusPerWorker: 1 })
    cluster.edit({ suspend: true })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Suspending')
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Suspended')
    assert.deepEqual(cluster.job.status?.resources, { allocatedGPUs: 0, allocatedNodes: 0 })
    assert.ok(isTrue(cluster, 'Suspended'))
    assert.deepEqual(namesOf(cluster), [])
    cluster.edit({ suspend: false })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Initializing')
    cluster.runAll()
    cluster.settle()
    cluster.exitAll({ exitCode: 0 })
    cluster.settle()
    assert.deepEqual(
      [cluster.job.status?.state, cluster.job.status?.failures, cluster.job.status?.attempts],
      ['Completed', 0, 2],
    )
    assert.ok(cluster.events.includes('Suspended') && cluster.events.includes('Resumed'))
  })

  test('once begun it is gone through with, even if the flag flips back', () => {
    const cluster = started({ numWorkers: 2 })
    cluster.edit({ suspend: true })
    cluster.settle()
    cluster.edit({ suspend: false })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Suspending')
    cluster.letGo()
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, attemptsOf(cluster)], ['Initializing', ['2']])
  })

  test('a job created suspended creates nothing until it is let', () => {
    const cluster = new SimulatedCluster({ suspend: true })
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, cluster.pods.length], ['Suspended', 0])
    cluster.edit({ suspend: false })
    cluster.settle()
    assert.equal(cluster.pods.length, 1)
  })
})

describe('scale', () => {
  for (const to of [4, 1]) {
    test(`from 2 to ${to}: one size for all ranks`, () => {
      const cluster = started({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 8 } })
      cluster.edit({ numWorkers: to })
      cluster.settle()
      assert.deepEqual(worldSizes(cluster), ['2', '2'])
      cluster.letGo()
      cluster.settle()
      assert.deepEqual(
        worldSizes(cluster),
        Array.from({ length: to }, () => String(to)),
      )
      assert.deepEqual([cluster.job.status?.worldSize, cluster.job.status?.failures], [to, 0])
      assert.ok(cluster.events.includes('Scaled'))
    })
  }

  test('a change in the middle of the creation of a gang leaves no mixture', () => {
    const cluster = new SimulatedCluster({ numWorkers: 3, elastic: { minWorkers: 1, maxWorkers: 8 } })
    cluster.pass(4)
    assert.equal(cluster.pods.length, 1)
    cluster.edit({ numWorkers: 2 })
    cluster.settle()
    assert.deepEqual(worldSizes(cluster), ['2', '2'])
  })
})

describe('limits in time', () => {
  test('the deadline ends a job, counted from the last resume', () => {
    const cluster = started({ numWorkers: 1, activeDeadlineSeconds: 3600 })
    assert.equal(planTraining(cluster.observed).requeueAfterMs, 3_600_000)
    cluster.now += 50 * MINUTE
    cluster.edit({ suspend: true })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    cluster.now += 600 * MINUTE
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Suspended')
    cluster.edit({ suspend: false })
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    cluster.now += 50 * MINUTE
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Running')
    cluster.now += 10 * MINUTE
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Failed')
    assert.equal(getCondition(cluster.job.status?.conditions, 'Failed')?.reason, 'DeadlineExceeded')
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.pods.length, 0)
  })

  test('after its time a finished job goes', () => {
    const cluster = started({ numWorkers: 1, ttlSecondsAfterFinished: 60 })
    cluster.exitAll({ exitCode: 0 })
    cluster.settle()
    assert.equal(planTraining(cluster.observed).requeueAfterMs, MINUTE)
    assert.ok(!cluster.expired)
    cluster.now += MINUTE
    assert.ok(planTraining(cluster.observed).expired)
  })

  for (const [cleanPodPolicy, left] of [
    ['Running', ['bert-chief-0']],
    ['All', []],
    ['None', ['bert-chief-0', 'bert-workers-0']],
  ] as const) {
    test(`cleanPodPolicy ${cleanPodPolicy}`, () => {
      const cluster = started({ framework: 'tensorflow', roles: [{ name: 'chief' }], cleanPodPolicy })
      cluster.exit(podOf(cluster, 'bert-chief-0'), { exitCode: 0 })
      cluster.settle()
      cluster.letGo()
      cluster.settle()
      assert.deepEqual(namesOf(cluster).toSorted(), left)
    })
  }
})

describe('deletion', () => {
  test('waits for all pods, and leaves the checkpoints', () => {
    const cluster = started({ numWorkers: 2 })
    const first = planDeletion(cluster.observed)
    assert.deepEqual([first.prune.length, first.done, first.discard], [2, false, undefined])
    cluster.commit(first as never)
    assert.equal(planDeletion(cluster.observed).done, false)
    cluster.letGo()
    const last = planDeletion(cluster.observed)
    assert.deepEqual([last.prune.length, last.done, last.discard], [0, true, undefined])
  })

  test('takes the checkpoints along where the spec says so, if they were made for this very job', () => {
    const cluster = new SimulatedCluster({ checkpoint: { deleteOnCompletion: true } })
    cluster.settle()
    cluster.commit(planDeletion(cluster.observed) as never)
    cluster.letGo()
    const plan = planDeletion(cluster.observed)
    assert.deepEqual(
      plan.discard?.map(({ metadata }) => metadata.name),
      ['bert-checkpoints'],
    )
    assert.equal(plan.done, false)
    const { job } = cluster
    const namesake = { ...job, metadata: { ...job.metadata, uid: 'another' } }
    assert.deepEqual(planDeletion({ ...cluster.observed, job: namesake, pods: [] }).discard, undefined)
  })
})

test('a refusal is told on the job, and nothing else is done', () => {
  const cluster = new SimulatedCluster({ numWorkers: 2 })
  cluster.pass(1)
  const plan = planRefusal(
    cluster.observed,
    'pods "bert-workers-0" is forbidden: exceeded quota: gpus, requested: 1, used: 16, limited: 16',
  )
  assert.deepEqual([plan.apply, plan.prune], [[], []])
  cluster.commit(plan)
  assert.match(cluster.job.status?.reason ?? '', /^QuotaExceeded: .*used: 16/)
  assert.deepEqual(cluster.events, ['QuotaExceeded'])
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Initializing')
})
