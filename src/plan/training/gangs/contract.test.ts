/** The contract that every gang scheduler keeps, alone and in the life of a job on a simulated cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectsToWrite } from '../../../../test/builders/plans.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { restarted } from '../../../../test/sim/training-moves.ts'
import { apiVersionOf, type KubeObject } from '../../../kube/object.ts'
import type { Pod } from '../../../kube/resources.ts'
import { planTraining } from '../lifecycle.ts'
import { FINALIZER } from '../names.ts'
import { planDeletion } from '../steps/deletion.ts'
import type { Gang, GangScheduler } from './contract.ts'
import { coscheduling } from './coscheduling.ts'
import { native } from './native.ts'
import { gangKindName, gangs } from './registry.ts'
import { volcano } from './volcano.ts'

const gang: Gang = {
  jobName: 'bert',
  jobLabels: {},
  podSets: [
    { role: 'worker', count: 3, template: { metadata: { labels: {}, annotations: {} }, spec: { containers: [] } } },
  ],
  labels: { app: 'trainingjob' },
  minMembers: 3,
  minResources: { cpu: '12', memory: '1024' },
  queueName: 'research',
  priorityClassName: 'high',
  timeoutSeconds: 300,
}

const schedulers: readonly GangScheduler[] = gangs.filter(({ kinds }) => kinds.length > 0)
const COMMAND = { image: 'i', command: ['torchrun', 'train.py'], gpusPerWorker: 0, checkpoint: { enabled: false } }

/** Served by the cluster, and chosen by `auto`, unless the spec says otherwise. */
function clusterWith(scheduler: GangScheduler, spec: object = {}): TrainingCluster {
  const queue = scheduler.quota ? { scheduling: { queueName: 'research' } } : {}
  const cluster = new TrainingCluster({ ...COMMAND, numWorkers: 3, ...queue, ...spec })
  cluster.servedKinds = new Set(scheduler.kinds.map(({ resource }) => gangKindName(resource)))
  return cluster
}

function finish(cluster: TrainingCluster): void {
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
}

/** Whether the pod is a member: labels, annotations and spec are as the scheduler says. */
function assertMember(scheduler: GangScheduler, { metadata, spec }: Pod, minMembers: number): void {
  const wanted = scheduler.membershipIn({ jobName: 'bert', minMembers })
  assert.partialDeepStrictEqual(metadata.labels, wanted.labels ?? {})
  assert.partialDeepStrictEqual(metadata.annotations, wanted.annotations ?? {})
  assert.partialDeepStrictEqual(spec, wanted.spec ?? {})
  assert.equal(spec?.schedulerName, scheduler.schedulerName)
}

for (const scheduler of schedulers)
  describe(`gang scheduler ${scheduler.name}`, () => {
    const groupOf = (one: Gang): KubeObject => scheduler.groupOf(one) ?? assert.fail('no group')

    test('renders a kind that it declares, with the labels, and the same for the same gang', () => {
      const group = groupOf(gang)
      const declared = scheduler.kinds.map(({ resource }) => `${apiVersionOf(resource)} ${resource.kind}`)
      assert.ok(declared.includes(`${group.apiVersion} ${group.kind}`))
      assert.deepEqual(group.metadata.labels, gang.labels)
      assert.deepEqual(groupOf({ ...gang }), group)
    })

    test('every pod names the group', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      const { name } = cluster.groups[0]?.metadata ?? assert.fail('no group')
      assert.equal(cluster.pods.length, 3)
      const text = ({ metadata, spec }: Pod): string => JSON.stringify([metadata.labels, metadata.annotations, spec])
      for (const pod of cluster.pods) assert.ok(text(pod).includes(`"${name}"`))
    })

    for (const engine of ['pods', 'job'])
      test(`engine ${engine}: the group exists before its pods, and the status names it`, () => {
        const cluster = clusterWith(scheduler, { engine })
        cluster.settle()
        const isOf = (word: string) => (write: string) => write.startsWith(`create ${word}/`)
        const created = cluster.writes.findIndex(isOf(kindOf(scheduler)))
        assert.ok(created >= 0 && created < cluster.writes.findIndex(isOf(engine === 'job' ? 'Job' : 'Pod')))
        for (const pod of cluster.pods) assertMember(scheduler, pod, 3)
        const { attempt, gang: chosen, podGroup } = cluster.job.status?.scheduling ?? {}
        assert.deepEqual([chosen, podGroup, attempt], [scheduler.name, cluster.groups[0]?.metadata.name, 1])
      })

    test('a restart keeps the group, the end removes it', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.runAll()
      cluster.settle()
      const [group] = cluster.groups.map(({ metadata }) => metadata)
      const [pod] = cluster.pods
      if (pod) cluster.exit(pod, { exitCode: 1 })
      restarted(cluster)
      assert.deepEqual([cluster.job.status?.attempts, cluster.groups.map(({ metadata }) => metadata)], [2, [group]])
      finish(cluster)
      assert.equal(cluster.job.status?.state, 'Completed')
      assert.equal(cluster.groups.length, scheduler.quota ? 1 : 0)
      assert.deepEqual(cluster.job.status?.scheduling, { gang: scheduler.name, attempt: 2 })
    })

    test('the status names the scheduler of a job that ended while the operator was down', () => {
      const cluster = clusterWith(scheduler, { cleanPodPolicy: 'None' })
      for (let pass = 1; cluster.pods.length < 3; pass += 1) {
        assert.ok(pass < 50, 'the pods are not created')
        cluster.grantQuota()
        cluster.pass(1)
      }
      cluster.runAll()
      cluster.exitAll({ exitCode: 0 })
      cluster.settle()
      assert.equal(cluster.job.status?.state, 'Completed')
      assert.deepEqual(cluster.job.status.scheduling, { gang: scheduler.name, attempt: 1 })
    })

    test('a suspension removes the group, and a resume creates it again', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.edit({ suspend: true })
      cluster.settle()
      assert.deepEqual([cluster.job.status?.state, cluster.groups], ['Suspended', []])
      assert.deepEqual(cluster.job.status?.scheduling, { gang: scheduler.name, attempt: 1 })
      cluster.edit({ suspend: false })
      cluster.settle()
      assert.equal(cluster.groups.length, 1)
    })

    test('an elastic gang needs its minimum', () => {
      const cluster = clusterWith(scheduler, { elastic: { minWorkers: 2, maxWorkers: 8 } })
      cluster.settle()
      assert.equal(minimumOf(cluster.groups[0]), 2)
      assert.equal(cluster.pods.length, 3)
    })

    test('a changed size has one group of that size', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.edit({ elastic: { minWorkers: 1, maxWorkers: 8, resizePolicy: 'Now', maxWaitSeconds: 0 }, numWorkers: 5 })
      cluster.edit({ command: ['python', 'train.py'] })
      cluster.settle()
      assert.deepEqual([cluster.pods.length, cluster.groups.map(sizeOf)], [5, [5]])
      for (const pod of cluster.pods) assertMember(scheduler, pod, 5)
    })

    test('the group is deleted with the job', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.edit({ suspend: true })
      const { observed } = cluster
      const metadata = { ...observed.job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] }
      const owned = cluster.groups.map((one) => ({ ...one, metadata: { ...one.metadata, namespace: 'team-a' } }))
      const { deletions, done } = planDeletion({ ...observed, job: { ...observed.job, metadata }, pods: [], owned })
      assert.ok(done)
      assert.deepEqual(
        deletions.map(({ object }) => object.kind),
        [kindOf(scheduler)],
      )
    })

    test('uninstalled while the job runs: the job continues, and nothing of the kind is written', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.runAll()
      cluster.settle()
      cluster.servedKinds = new Set()
      cluster.groups = []
      assert.deepEqual(
        kindsOf(cluster).filter((kind) => kind === kindOf(scheduler)),
        [],
      )
      finish(cluster)
      assert.deepEqual([cluster.job.status?.state, cluster.job.status?.attempts], ['Completed', 1])
    })

    test('uninstalled while pods wait: auto continues without it, unless the job names a queue', () => {
      const cluster = clusterWith(scheduler)
      cluster.settle()
      cluster.servedKinds = new Set()
      cluster.groups = []
      cluster.settle()
      if (scheduler.quota) return assertUnavailable(cluster)
      assert.equal(cluster.job.status?.scheduling?.gang, 'none')
      assert.deepEqual([cluster.pods.length, cluster.job.status?.failures], [3, 0])
      finish(cluster)
      assert.equal(cluster.job.status?.state, 'Completed')
    })
  })

const kindOf = ({ kinds }: GangScheduler): string => kinds[0]?.resource.kind ?? ''

function assertUnavailable(cluster: TrainingCluster): void {
  cluster.letGo()
  cluster.settle()
  assert.deepEqual([cluster.pods.length, cluster.job.status?.failures, cluster.job.status?.state], [0, 0, 'Pending'])
  assert.match(cluster.job.status?.reason ?? '', /^GangSchedulerUnavailable: /)
}

const kindsOf = ({ observed }: TrainingCluster): string[] =>
  objectsToWrite(planTraining(observed)).map(({ kind }) => kind)

function minimumOf(group: KubeObject | undefined): unknown {
  const { spec } = group as KubeObject & {
    spec?: {
      minMember?: number
      schedulingPolicy?: { gang: { minCount: number } }
      podSets?: readonly { count: number; minCount?: number }[]
    }
  }
  return spec?.minMember ?? spec?.schedulingPolicy?.gang.minCount ?? spec?.podSets?.[0]?.minCount
}

function sizeOf(group: KubeObject): unknown {
  const { spec } = group as KubeObject & { spec?: { podSets?: readonly { count: number }[] } }
  return spec?.podSets?.[0]?.count ?? minimumOf(group)
}

test('the spec of each PodGroup', () => {
  const specOf = (group: KubeObject): unknown => (group as KubeObject & { spec: unknown }).spec
  assert.deepEqual(specOf(volcano.groupOf(gang)), {
    minMember: 3,
    minResources: gang.minResources,
    queue: 'research',
    priorityClassName: 'high',
  })
  assert.deepEqual(specOf(coscheduling.groupOf(gang)), {
    minMember: 3,
    minResources: gang.minResources,
    scheduleTimeoutSeconds: 300,
  })
  assert.deepEqual(specOf(native.groupOf(gang)), { schedulingPolicy: { gang: { minCount: 3 } } })
  assert.equal(native.groupOf(gang).metadata.name, 'bert-3')
})

test('Volcano without a queue uses the queue default, and adds up what the needed pods request', () => {
  const cluster = clusterWith(volcano, { resources: { requests: { cpu: '1500m', memory: '1Gi' } } })
  cluster.settle()
  const { spec } = cluster.groups[0] as KubeObject & { spec: object }
  const minResources = { cpu: '4500m', memory: String(3 * 1024 ** 3) }
  assert.deepEqual(spec, { minMember: 3, minResources, queue: 'default' })
})
