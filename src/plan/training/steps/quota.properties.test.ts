/**
 * Random histories of a job in a queue: the queue grants quota and takes it back, people delete and edit the Workload, pods run,
 * end and fail, and the operator dies after any of its writes. After every write, no pod was created without quota for it, and
 * no quota was given back that a pod still uses.
 */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitted, evicted, holds, isWorkload, refused } from '../../../../test/sim/queue.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Pod } from '../../../kube/resources.ts'
import type { Workload } from '../gangs/kueue/kinds.ts'
import { isFinal } from '../observe/state.ts'

const RUNS = { numRuns: 100 }
const SPEC = {
  image: 'i',
  command: ['train'],
  gpusPerWorker: 0,
  numWorkers: 3,
  checkpoint: { enabled: false },
  scheduling: { queueName: 'research' },
}

const isActive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

/** Pods that may use something, now. */
const usedBy = ({ pods }: TrainingCluster): number => pods.filter(isActive).length

/** Pods that the queue counts as used. */
function quotaOf({ groups }: TrainingCluster): number {
  const granted = groups.filter((group): group is Workload => isWorkload(group) && holds(group, 'QuotaReserved'))
  assert.ok(granted.length <= 1, 'Q1: no job has quota twice')
  const counts = granted.flatMap(
    ({ status }) => status?.admission?.podSetAssignments.map(({ count = 0 }) => count) ?? [],
  )
  const ended = granted.flatMap(({ status }) => status?.reclaimablePods?.map(({ count }) => count) ?? [])
  return sum(counts) - sum(ended)
}

const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0)

function oracle(cluster: TrainingCluster): void {
  const write = cluster.writes.at(-1) ?? ''
  if (/^create (Pod|Job)\//.test(write)) assert.ok(usedBy(cluster) <= quotaOf(cluster), `Q2: quota before ${write}`)
  if (/^(report|delete) Workload\//.test(write) && cluster.groups.length > 0 && !isFinal(cluster.job.status?.state))
    assert.ok(quotaOf(cluster) > 0 || usedBy(cluster) === 0, `Q3: pods are gone before ${write}`)
}

type Move = (cluster: TrainingCluster) => void

const change =
  (by: (group: KubeObject, now: number) => KubeObject): Move =>
  (cluster) => {
    cluster.groups = cluster.groups.map((group) => by(group, cluster.now))
  }

const podMove = (act: (cluster: TrainingCluster, pod: Pod) => void) =>
  fc.nat(5).map((which): Move => (cluster) => {
    const pod = cluster.pods[which % Math.max(1, cluster.pods.length)]
    if (pod && pod.metadata.deletionTimestamp === undefined) act(cluster, pod)
  })

const runsThen = (exitCode: number) =>
  podMove((cluster, pod) => void (pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode })))

const edited = (group: KubeObject): KubeObject => {
  const { spec } = group as Workload
  if (holds(group as Workload, 'QuotaReserved')) return group
  return { ...group, spec: { ...spec, podSets: spec.podSets.map((one) => ({ ...one, count: 1 })) } } as KubeObject
}

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.nat(4).map(
      (survives): Move =>
        (cluster) =>
          void cluster.pass(survives),
    ),
  },
  { weight: 4, arbitrary: fc.constant<Move>((cluster) => void cluster.pass()) },
  { weight: 6, arbitrary: fc.constant(change((group, now) => admitted(group, now))) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('Preempted', 'PodsReadyTimeout')
      .map((why) => change((group, now) => evicted(group, now, why))),
  },
  { weight: 1, arbitrary: fc.constant(change((group, now) => refused(group, now, 'no quota'))) },
  { weight: 1, arbitrary: fc.constant<Move>((cluster) => (cluster.groups = [])) },
  { weight: 1, arbitrary: fc.constant(change(edited)) },
  { weight: 4, arbitrary: fc.constant<Move>((cluster) => cluster.runAll()) },
  { weight: 4, arbitrary: fc.constant<Move>((cluster) => cluster.letGo()) },
  { weight: 2, arbitrary: runsThen(0) },
  { weight: 2, arbitrary: runsThen(1) },
  { weight: 1, arbitrary: podMove((cluster, pod) => cluster.preempt(pod)) },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (suspend): Move =>
        (cluster) =>
          cluster.edit({ suspend }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Move>((cluster) => (cluster.now += 60_000)) },
)

/** Everybody cooperates until the job has ended. */
function finish(cluster: TrainingCluster): void {
  cluster.edit({ suspend: false })
  cluster.grantsQuota = true
  for (let round = 0; round < 30 && !isFinal(cluster.job.status?.state); round += 1) {
    cluster.settle()
    cluster.letGo()
    cluster.runAll()
    cluster.now += 600_000
    cluster.settle()
    cluster.exitAll({ exitCode: 0 })
  }
  cluster.letGo()
  cluster.settle()
  cluster.letGo()
  cluster.settle()
}

for (const engine of ['pods', 'job'])
  test(`engine ${engine}: no pod without quota, no quota without an end, whatever happens`, () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const cluster = new TrainingCluster({ ...SPEC, engine, backoffLimit: 10 }, oracle)
        cluster.servedKinds = new Set(['workloads.kueue.x-k8s.io'])
        cluster.grantsQuota = false
        for (const one of moves) one(cluster)
        finish(cluster)
        const { state, reason } = cluster.job.status ?? {}
        assert.ok(isFinal(state), `the job ends: ${reason}`)
        const live = cluster.groups.filter((group) => isWorkload(group) && !holds(group, 'Finished'))
        assert.deepEqual(live, [], 'Q4: a job that has ended holds no quota')
      }),
      RUNS,
    )
  })
