/** A job in a queue: no pod without quota, no quota without pods for long, and no retry charged for losing it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evicted, isWorkload, NODE_LABELS, refused, TOLERATION } from '../../../../test/sim/queue.ts'
import { admitted, holds } from '../../../../test/sim/queue.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { podOf, restarted } from '../../../../test/sim/training-moves.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Workload } from '../gangs/kueue/kinds.ts'

const SPEC = { image: 'i', command: ['train'], gpusPerWorker: 0, numWorkers: 3, checkpoint: { enabled: false } }
const QUEUE = 'kueue.x-k8s.io/queue-name'

function queued(spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, scheduling: { queueName: 'research' }, ...spec })
  cluster.servedKinds = new Set(['workloads.kueue.x-k8s.io'])
  cluster.grantsQuota = false
  cluster.settle()
  return cluster
}

function running(spec: object = {}): TrainingCluster {
  const cluster = queued(spec)
  grant(cluster)
  cluster.runAll()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  return cluster
}

function change(cluster: TrainingCluster, by: (group: KubeObject, now: number) => KubeObject): void {
  cluster.groups = cluster.groups.map((group) => by(group, cluster.now))
  cluster.settle()
}

const grant = (cluster: TrainingCluster, workers?: number): void =>
  change(cluster, (group, now) => admitted(group, now, workers))

function workload({ groups }: TrainingCluster): Workload {
  const [group] = groups
  assert.ok(group && isWorkload(group) && groups.length === 1, 'one Workload')
  return group
}

const conditionOf = (cluster: TrainingCluster, type: string): unknown => {
  const { status, reason } = workload(cluster).status?.conditions?.find((one) => one.type === type) ?? {}
  return status === undefined ? undefined : `${status} ${reason}`
}

describe('a job in a queue', () => {
  test('waits without pods, and says why', () => {
    const cluster = queued()
    assert.deepEqual([cluster.pods.length, cluster.job.status?.state], [0, 'Pending'])
    change(cluster, (group, now) =>
      refused(group, now, 'insufficient unused quota for cpu in flavor a100, 1 more needed'),
    )
    const { reason, scheduling } = cluster.job.status ?? {}
    assert.match(reason ?? '', /^WaitingForQuota: Waiting in queue research: insufficient unused quota for cpu/)
    assert.equal(scheduling?.queueName, 'research')
    assert.equal(scheduling.pending?.reason, 'WaitingForQuota')
    assert.equal(scheduling.podGroup, workload(cluster).metadata.name)
    assert.deepEqual(cluster.events, ['WaitingForQuota'])
    assert.equal(cluster.pass()?.writes.length, 0, 'nothing is written while nothing changes')
  })

  test('starts when it is admitted: the quota is recorded first, and pods get what the flavor says', () => {
    const cluster = queued()
    cluster.groups = cluster.groups.map((group) => admitted(group, cluster.now))
    cluster.pass()
    assert.deepEqual([cluster.pods.length, cluster.writes.at(-1)], [0, 'status'])
    const { admission, pending } = cluster.job.status?.scheduling ?? {}
    assert.deepEqual([admission?.clusterQueue, admission?.requestedWorkers, pending], ['team-a', 3, undefined])
    cluster.settle()
    assert.equal(cluster.pods.length, 3)
    for (const { spec, metadata } of cluster.pods) {
      assert.deepEqual([spec?.nodeSelector, spec?.tolerations], [NODE_LABELS, [TOLERATION]])
      assert.equal(metadata.labels?.['kueue.x-k8s.io/podset'], 'worker')
      assert.equal(metadata.annotations?.['kueue.x-k8s.io/workload'], workload(cluster).metadata.name)
      assert.equal(metadata.labels?.[QUEUE], undefined, 'Kueue would queue the pod by itself')
    }
  })

  test('that is evicted stops its pods gracefully, gives the quota back when they are gone, and is not charged', () => {
    const cluster = running()
    change(cluster, evicted)
    assert.ok(cluster.pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined))
    assert.ok(holds(workload(cluster), 'QuotaReserved'), 'the pods still hold it')
    assert.match(cluster.job.status?.reason ?? '', /^QuotaWithdrawn: Preempted: /)
    cluster.letGo()
    cluster.settle()
    assert.equal(workload(cluster).status?.admission, undefined)
    const told = ['Requeued', 'QuotaReserved', 'Admitted', 'PodsReady'].map((type) => conditionOf(cluster, type))
    assert.deepEqual(told, ['True Preempted', 'False Pending', 'False NoReservation', 'False WaitForStart'])
    grant(cluster)
    cluster.runAll()
    cluster.settle()
    const { state, failures, attempts, restarts } = cluster.job.status ?? {}
    assert.deepEqual(
      { state, failures, attempts, restarts },
      { state: 'Running', failures: 0, attempts: 2, restarts: 0 },
    )
    assert.equal(conditionOf(cluster, 'PodsReady'), 'True Started')
  })

  test('is queued again by Kueue where it was evicted for another reason than preemption', () => {
    const cluster = running()
    change(cluster, (group, now) => evicted(group, now, 'PodsReadyTimeout'))
    cluster.letGo()
    cluster.settle()
    assert.equal(conditionOf(cluster, 'Requeued'), 'False PodsReadyTimeout')
  })

  test('resumes from its newest checkpoint after an eviction', () => {
    const cluster = running({ checkpoint: {} })
    cluster.checkpoints = [10, 20]
    change(cluster, evicted)
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.checkpointPod, undefined, 'nothing runs without quota')
    grant(cluster)
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.job.status?.checkpoint?.resumedFrom, '/checkpoints/step-20')
    assert.equal(cluster.pods.length, 3)
  })

  test('that has ended says so when its pods are gone', () => {
    const cluster = running({ framework: 'tensorflow', roles: [{ name: 'ps', replicas: 1 }] })
    for (const pod of cluster.pods) if (!pod.metadata.name.includes('-ps-')) cluster.exit(pod, { exitCode: 0 })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Completed')
    assert.equal(conditionOf(cluster, 'Finished'), undefined, 'the parameter server still runs')
    cluster.letGo()
    cluster.settle()
    assert.equal(conditionOf(cluster, 'Finished'), 'True Succeeded')
    assert.equal(cluster.pass()?.writes.length, 0)
  })

  test('that has failed says so', () => {
    const cluster = running({ backoffLimit: 0 })
    cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 1 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(conditionOf(cluster, 'Finished'), 'True Failed')
  })

  test('gives the quota of workers back that have ended, and asks again for all before it restarts', () => {
    const cluster = running()
    cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 0 })
    cluster.settle()
    const { uid } = workload(cluster).metadata
    assert.deepEqual(workload(cluster).status?.reclaimablePods, [{ name: 'worker', count: 1 }])
    cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
    restarted(cluster)
    assert.equal(cluster.pods.length, 0)
    assert.notEqual(workload(cluster).metadata.uid, uid)
    assert.equal(workload(cluster).status?.reclaimablePods, undefined)
    grant(cluster)
    assert.equal(cluster.pods.length, 3)
  })

  test('keeps its quota through a restart', () => {
    const cluster = running()
    const { uid } = workload(cluster).metadata
    cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
    restarted(cluster)
    assert.deepEqual([cluster.pods.length, workload(cluster).metadata.uid], [3, uid])
    assert.equal(conditionOf(cluster, 'PodsReady'), 'True Recovered')
  })

  test('with elastic runs with the workers that it gets', () => {
    const cluster = queued({ elastic: { minWorkers: 2, maxWorkers: 8 } })
    assert.equal(workload(cluster).spec.podSets[0]?.minCount, 2)
    grant(cluster, 2)
    assert.equal(cluster.pods.length, 2)
    assert.deepEqual([cluster.job.status?.worldSize, cluster.job.status?.attempts], [2, 1])
    cluster.runAll()
    cluster.settle()
    cluster.now += 3_600_000
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, cluster.pods.length], ['Running', 2])
  })

  test('keeps the quota when the image changes, and asks again when the demand changes', () => {
    const cluster = running()
    const { uid } = workload(cluster).metadata
    cluster.edit({ image: 'other' })
    cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
    restarted(cluster)
    assert.equal(workload(cluster).metadata.uid, uid)
    cluster.edit({ resources: { requests: { cpu: '7' } } })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Running', 'a running attempt keeps what it has')
    cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
    restarted(cluster)
    assert.notEqual(workload(cluster).metadata.uid, uid)
    assert.equal(cluster.pods.length, 0)
  })

  test('has no deadline while it waits', () => {
    const cluster = running({ activeDeadlineSeconds: 60 })
    change(cluster, evicted)
    cluster.letGo()
    cluster.settle()
    cluster.now += 3_600_000
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Pending')
    grant(cluster)
    cluster.runAll()
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Running')
    cluster.now += 61_000
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Failed')
  })
})

describe('the Workload of a job', () => {
  test('that is deleted while the job runs ends the pods, and is created again', () => {
    const cluster = running()
    cluster.groups = []
    cluster.settle()
    assert.match(cluster.job.status?.reason ?? '', /^QuotaWithdrawn: WorkloadDeleted/)
    cluster.letGo()
    cluster.settle()
    assert.deepEqual([cluster.pods.length, cluster.groups.length, cluster.job.status?.failures], [0, 1, 0])
  })

  test('that is edited to ask for less does not start the job', () => {
    const cluster = queued()
    const { uid } = workload(cluster).metadata
    cluster.groups = cluster.groups.map((group) => {
      const { spec } = group as Workload
      return { ...group, spec: { ...spec, podSets: spec.podSets.map((one) => ({ ...one, count: 1 })) } } as KubeObject
    })
    grant(cluster)
    assert.equal(cluster.pods.length, 0)
    assert.notEqual(workload(cluster).metadata.uid, uid)
  })

  test('that others have finished is replaced', () => {
    const cluster = queued()
    const { uid } = workload(cluster).metadata
    change(cluster, (group) => {
      const finished = { type: 'Finished', status: 'True', reason: 'OutOfSync', message: '' }
      return { ...group, status: { conditions: [finished] } } as KubeObject
    })
    assert.notEqual(workload(cluster).metadata.uid, uid)
  })

  test('has the priority of the job, and waits for a class that does not exist', () => {
    const cluster = queued({ scheduling: { queueName: 'research', priorityClassName: 'high' } })
    assert.deepEqual(cluster.groups, [])
    assert.match(cluster.job.status?.reason ?? '', /PriorityClass high does not exist/)
    assert.equal(cluster.pass()?.requeueAfterMs, 30_000)
    const high = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 7 }
    cluster.clusterObjects = new Map([['PriorityClass/high', high]])
    cluster.settle()
    const { priority, priorityClassRef } = workload(cluster).spec
    assert.deepEqual([priority, priorityClassRef?.name, priorityClassRef?.group], [7, 'high', 'scheduling.k8s.io'])
  })
})
