import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { CostStatus } from '../../../api/training-cost.ts'
import type { Pod } from '../../../kube/resources.ts'
import { timestamp } from '../../time.ts'
import type { CostConfig } from '../cost-config.ts'
import { planDeletion } from '../steps/deletion.ts'

const HOUR = 3_600_000
const SPOT = { 'karpenter.sh/capacity-type': 'spot' }

const prices: CostConfig['prices'] = [
  { nodeLabels: { gpu: 'a100' }, spot: true, gpuHour: 1 },
  { nodeLabels: { gpu: 'a100' }, gpuHour: 4, cpuHour: 0.1 },
  { cpuHour: 0.5, memoryGiBHour: 0.25 },
]

/** Two workers with one GPU, two CPUs and 4 GiB each. */
const gang = {
  numWorkers: 2,
  gpusPerWorker: 1,
  image: 'i',
  command: ['x'],
  resources: { requests: { cpu: '2', memory: '4Gi' } },
  checkpoint: { enabled: false },
}

function clusterOf(spec: object = {}, settings: Partial<CostConfig> = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...gang, ...spec })
  Object.assign(cluster.config, { cost: { currency: 'EUR', prices: [], ...settings } })
  cluster.settle()
  return cluster
}

function costIn({ job }: TrainingCluster): CostStatus {
  const { cost } = job.status ?? {}
  assert.ok(cost, 'the status has a cost')
  return cost
}

/** All pods run for the time, and then succeed. */
function completeAfter(cluster: TrainingCluster, ms: number): CostStatus {
  cluster.runAll()
  cluster.settle()
  cluster.now += ms
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  return costIn(cluster)
}

function label(cluster: TrainingCluster, labels: Readonly<Record<string, string>>): void {
  cluster.nodes.splice(0, cluster.nodes.length, ...cluster.nodes.map((node) => ({ ...node, labels })))
}

function later(cluster: TrainingCluster, ms: number): void {
  cluster.now += ms
  cluster.settle()
}

test('hours of GPUs and CPUs, without prices', () => {
  const cluster = clusterOf()
  const { time, ...cost } = completeAfter(cluster, 1.5 * HOUR)
  assert.deepEqual(cost, { gpuHours: 3, cpuHours: 6, attempts: [{ attempt: 1, gpuHours: 3, cpuHours: 6 }] })
  assert.equal(time, timestamp(cluster.now))
})

test('nothing is counted before a pod has a node', () => {
  const cluster = clusterOf()
  later(cluster, HOUR)
  cluster.edit({ suspend: true })
  cluster.settle()
  assert.equal(cluster.job.status?.cost, undefined)
})

describe('the estimate', () => {
  const table: readonly [string, Record<string, string>, number][] = [
    ['a spot node', { gpu: 'a100', ...SPOT }, 2 * 1],
    ['another node', { gpu: 'a100' }, 2 * (4 + 2 * 0.1)],
    ['any node: CPU and memory', {}, 2 * (2 * 0.5 + 4 * 0.25)],
  ]
  for (const [where, labels, expected] of table)
    test(`uses the first price that matches: ${where}`, () => {
      const cluster = clusterOf({}, { prices })
      cluster.runAll()
      label(cluster, labels)
      const { estimated, currency, attempts } = completeAfter(cluster, HOUR)
      assert.deepEqual([estimated, currency, attempts[0]?.estimated], [expected, 'EUR', expected])
    })

  test('a node without a price costs nothing, but its hours count', () => {
    const cluster = clusterOf({}, { prices: prices.slice(0, 2) })
    const { estimated, gpuHours } = completeAfter(cluster, HOUR)
    assert.deepEqual([estimated, gpuHours], [0, 2])
  })

  test('the price stays known when the node is gone', () => {
    const cluster = clusterOf({}, { prices })
    cluster.runAll()
    label(cluster, { gpu: 'a100' })
    cluster.settle()
    cluster.now += HOUR
    cluster.nodes.splice(0)
    for (const pod of cluster.pods) cluster.vanish(pod)
    cluster.settle()
    assert.deepEqual([costIn(cluster).estimated, costIn(cluster).gpuHours], [2 * (4 + 2 * 0.1), 2])
  })

  test('changed prices apply from then on', () => {
    const cluster = clusterOf({}, { prices: [{ gpuHour: 1 }] })
    cluster.runAll()
    label(cluster, {})
    cluster.settle()
    cluster.now += HOUR
    cluster.edit({ backoffLimit: 9 })
    cluster.settle()
    Object.assign(cluster.config, { cost: { currency: 'EUR', prices: [{ gpuHour: 3 }] } })
    assert.equal(completeAfter(cluster, HOUR).estimated, 2 * (1 + 3))
  })
})

describe('attempts', () => {
  test('each has its own cost, and pods that terminate belong to the attempt that they were created for', () => {
    const cluster = clusterOf()
    cluster.runAll()
    cluster.settle()
    cluster.now += HOUR
    const [first] = cluster.pods
    assert.ok(first)
    cluster.exit(first, { exitCode: 1 })
    cluster.settle()
    cluster.now += 0.25 * HOUR
    cluster.letGo()
    cluster.settle()
    later(cluster, HOUR)
    const { gpuHours, attempts } = completeAfter(cluster, 2 * HOUR)
    assert.deepEqual(
      attempts.map((one) => [one.attempt, one.gpuHours]),
      [
        [1, 2.25],
        [2, 4],
      ],
    )
    assert.equal(gpuHours, 6.25)
  })

  test('a resized gang counts the pods that it had', () => {
    const cluster = clusterOf({ elastic: { minWorkers: 1, maxWorkers: 8 } })
    cluster.runAll()
    cluster.settle()
    cluster.now += HOUR
    cluster.edit({ numWorkers: 4 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.deepEqual(
      completeAfter(cluster, HOUR).attempts.map((one) => one.gpuHours),
      [2, 4],
    )
  })

  test('a replaced worker of an elastic gang counts with the one that replaces it', () => {
    const cluster = clusterOf({ command: ['torchrun', 'x'], elastic: { minWorkers: 1, maxWorkers: 8 } })
    cluster.runAll()
    cluster.settle()
    cluster.now += HOUR
    const [, second] = cluster.pods
    assert.ok(second)
    cluster.exit(second, { exitCode: 1 })
    cluster.settle()
    cluster.letGo()
    later(cluster, HOUR)
    const { gpuHours, attempts } = completeAfter(cluster, HOUR)
    assert.deepEqual([gpuHours, attempts.length], [1 + 3 + 1, 1])
  })

  test('only the last 16 are kept, and the total has all', () => {
    const cluster = clusterOf({ backoffLimit: 100 })
    for (let attempt = 1; attempt <= 20; attempt += 1) {
      cluster.runAll()
      cluster.settle()
      cluster.now += HOUR
      cluster.exitAll({ exitCode: 1 })
      cluster.settle()
      cluster.letGo()
      later(cluster, HOUR)
    }
    const { gpuHours, attempts } = costIn(cluster)
    assert.deepEqual([gpuHours, attempts.length, attempts[0]?.attempt], [40, 16, 5])
  })

  test('a label that somebody edited does not invent an attempt', () => {
    const cluster = clusterOf()
    cluster.runAll()
    for (const [index, pod] of cluster.pods.entries()) {
      const labels = { ...pod.metadata.labels, 'trainingjob.ml.example.com/attempt': ['99999999999', 'x'][index] ?? '' }
      cluster.change({ ...pod, metadata: { ...pod.metadata, labels } })
    }
    cluster.now += HOUR
    cluster.settle()
    assert.equal(new Set(costIn(cluster).attempts.map(({ attempt }) => attempt)).size, 1)
  })
})

describe('time', () => {
  test('alone changes nothing: the cost follows with the next change', () => {
    const cluster = clusterOf()
    cluster.runAll()
    cluster.settle()
    const { length } = cluster.writes
    later(cluster, 10 * HOUR)
    assert.equal(cluster.writes.length, length)
    assert.equal(costIn(cluster).gpuHours, 0)
    cluster.edit({ backoffLimit: 9 })
    cluster.settle()
    assert.equal(costIn(cluster).gpuHours, 20)
  })

  test('alone changes nothing after the end, or while the job is being deleted', () => {
    const cluster = clusterOf({ cleanPodPolicy: 'None' })
    completeAfter(cluster, HOUR)
    const { length } = cluster.writes
    later(cluster, HOUR)
    assert.equal(cluster.writes.length, length)
    const other = clusterOf()
    other.runAll()
    other.settle()
    for (const pod of other.pods) other.delete(pod)
    other.commit(planDeletion({ ...other.observed, owned: [] }))
    const { status } = other.job
    other.now += HOUR
    other.commit(planDeletion({ ...other.observed, owned: [] }))
    assert.deepEqual(other.job.status, status)
  })

  test('that a pod waits for its image or its volumes counts: it holds the node', () => {
    const cluster = clusterOf()
    const [pod] = cluster.pods
    assert.ok(pod?.spec)
    const at = { lastTransitionTime: timestamp(cluster.now) }
    const conditions = [{ type: 'PodScheduled', status: 'True' as const, ...at }]
    cluster.change({ ...pod, spec: { ...pod.spec, nodeName: 'a' }, status: { phase: 'Pending', conditions } })
    later(cluster, HOUR)
    assert.equal(costIn(cluster).gpuHours, 1)
  })

  test('after the end of a pod does not count, although the pod exists', () => {
    const cluster = clusterOf({ cleanPodPolicy: 'None' })
    completeAfter(cluster, HOUR)
    cluster.now += 100 * HOUR
    cluster.edit({ backoffLimit: 9 })
    cluster.settle()
    assert.equal(costIn(cluster).gpuHours, 2)
  })

  test('of a clock that goes back takes nothing away, and counts nothing twice', () => {
    const cluster = clusterOf()
    cluster.runAll()
    cluster.settle()
    cluster.now += 2 * HOUR
    cluster.edit({ backoffLimit: 8 })
    cluster.settle()
    cluster.now -= HOUR
    cluster.edit({ backoffLimit: 9 })
    cluster.settle()
    assert.equal(costIn(cluster).gpuHours, 4)
    cluster.now += HOUR
    assert.equal(completeAfter(cluster, HOUR).gpuHours, 6)
  })
})

test('a deletion counts until the last pod is gone', () => {
  const cluster = clusterOf()
  cluster.runAll()
  cluster.settle()
  cluster.now += HOUR
  for (const pod of cluster.pods) cluster.delete(pod)
  const { status } = planDeletion({ ...cluster.observed, owned: [] })
  assert.equal(status?.cost?.gpuHours, 2, 'recorded with the reason that is written anyway')
  cluster.job = { ...cluster.job, status: { ...cluster.job.status, ...(status.cost && { cost: status.cost }) } }
  cluster.now += 0.5 * HOUR
  cluster.letGo()
  const { done, cost } = planDeletion({ ...cluster.observed, owned: [] })
  assert.deepEqual([done, cost?.gpuHours], [true, 3])
})

test('pods of sidecars and init containers count as the scheduler counts them', () => {
  const cluster = clusterOf()
  cluster.runAll()
  const requests = (cpu: string): object => ({ resources: { requests: { cpu } } })
  for (const pod of cluster.pods) {
    const initContainers = [{ name: 'init', ...requests('10') }]
    cluster.change({ ...pod, spec: { ...pod.spec, initContainers } } as Pod)
  }
  assert.equal(completeAfter(cluster, HOUR).cpuHours, 20)
})
