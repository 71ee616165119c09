/** The cost of a job and spot nodes on a real API server, with a restart of the operator in the middle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { CostStatus } from '../../src/api/training-cost.ts'
import { Node, Pod } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const GPUS = 2
const WORKERS = 2
const LABEL = 'test.example.com/cost'
/** Times have whole seconds, and an end is observed a little later. */
const TOLERANCE = 2 * GPUS * WORKERS

const config = { cost: { currency: 'EUR', prices: [{ nodeLabels: { [LABEL]: 'a' }, gpuHour: 3600 }] } }

function heldSeconds({ status }: Pod): number {
  const placed = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime ?? ''
  const ended = status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? ''
  return (Date.parse(ended) - Date.parse(placed)) / 1000
}

function assertCost(
  { gpuHours, estimated = 0, currency, attempts, held: open }: CostStatus,
  pods: readonly Pod[],
): void {
  const held = pods.reduce((sum, pod) => sum + GPUS * heldSeconds(pod), 0)
  assert.ok(held >= 3 * GPUS * WORKERS)
  assert.ok(Math.abs(gpuHours * 3600 - held) <= TOLERANCE, `${gpuHours * 3600} of ${held} seconds`)
  assert.ok(Math.abs(estimated - gpuHours * 3600) < 0.01, 'a price of 3600 per hour is 1 per second')
  assert.deepEqual([currency, attempts.length, attempts[0]?.gpuHours, open], ['EUR', 1, gpuHours, undefined])
}

test('the cost of a job is the time of its pods, before and after a restart of the operator', async (t) => {
  await client.patch(Node, { name: node.name }, { metadata: { labels: { [LABEL]: 'a' } } })
  const ns = await namespace(t)
  const fixture = trainingFixture(t, { cluster, client, node: node.name }, { namespace: ns, config, resyncMs: 100 })
  const { create, runs, reaches, pods, kubelet, restart, operator, audit, passesThrice, job } = fixture
  await create({
    numWorkers: WORKERS,
    gpusPerWorker: GPUS,
    checkpoint: { enabled: false },
    cleanPodPolicy: 'None',
    scheduling: { spot: 'prefer' },
  })
  const [worker] = await runs(WORKERS)
  assert.equal(worker?.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.length, 4)
  await reaches('Running')
  await until('three seconds to pass', () => Date.now() - Date.parse(worker?.status?.startTime ?? '') > 3000)
  await restart()
  await passesThrice()
  await audit.take()
  await passesThrice()
  assert.deepEqual(await audit.take(), [], 'time alone is not written')
  kubelet.decide(() => ({ exitCode: 0 }))
  const { status } = await reaches('Completed')
  assertCost(status?.cost ?? assert.fail('no cost'), await pods())
  assert.deepEqual((await job()).status?.cost, status?.cost, 'stored as planned')
  const text = await operator().manager.metrics.registry.metrics()
  assert.match(text, new RegExp(`trainingjob_gpu_seconds_total\\{namespace="${ns}"\\} [1-9]`))
})

test('a deleted job counts until its pods are gone', async (t) => {
  const ns = await namespace(t)
  const fixture = trainingFixture(t, { cluster, client, node: node.name }, { namespace: ns, config, resyncMs: 100 })
  const { create, runs, reaches, key, operator } = fixture
  await create({ numWorkers: 1, gpusPerWorker: GPUS, checkpoint: { enabled: false } })
  const [worker] = await runs(1)
  await reaches('Running')
  await until('two seconds to pass', () => Date.now() - Date.parse(worker?.status?.startTime ?? '') > 2000)
  await client.delete(trainingJobs, key)
  const counted = await until('the metric', async () => {
    const text = await operator().manager.metrics.registry.metrics()
    const [, value = '0'] = new RegExp(`trainingjob_gpu_seconds_total\\{namespace="${ns}"\\} (\\S+)`).exec(text) ?? []
    return Number(value) >= 2 * GPUS ? Number(value) : undefined
  })
  assert.ok(counted < 60 * GPUS)
})

for (const [spot, operatorName] of [
  ['require', 'In'],
  ['never', 'NotIn'],
] as const)
  test(`scheduling.spot ${spot}: the API server accepts the affinity of the pods`, async (t) => {
    const ns = await namespace(t)
    const { create, pods } = trainingFixture(
      t,
      { cluster, client, node: node.name },
      { namespace: ns, decide: () => 'unscheduled' },
    )
    await create({ numWorkers: 1, checkpoint: { enabled: false }, scheduling: { spot } })
    const [pod] = await until('the pod', async () => {
      const all = await pods()
      return all.length === 1 ? all : undefined
    })
    const { nodeSelectorTerms: terms = [] } =
      pod?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
    const expressions = terms.flatMap(({ matchExpressions = [] }) => matchExpressions)
    assert.deepEqual([...new Set(expressions.map(({ operator }) => operator))], [operatorName])
    assert.equal(expressions.length, 4)
  })
