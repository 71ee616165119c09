/** How pods with GPUs are replaced: with surge where one more GPU is free, and without where ending a pod makes room. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToWrite } from '../../../../test/builders/plans.ts'
import { deviceNode, GPU } from '../../../../test/sim/device-nodes.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { fits } from '../../../api/validity.ts'
import type { Deployment } from '../../../kube/resources.ts'
import { deviceDemands, planServing } from '../plan.ts'
import { TEMPLATE_ANNOTATION } from '../objects/deployment.ts'

const gpus = (count: number | string): object => ({ resources: { limits: { [GPU]: count } } })

/** A model with GPUs that runs, on nodes with this many. */
function running(nodes: readonly number[], spec: object = {}): ServingCluster {
  const cluster = new ServingCluster(planServing, () => undefined, { spec: { ...gpus(1), ...spec } })
  cluster.gpus.nodes = nodes.map((count, index) => deviceNode(`node-${index}`, count))
  assert.ok(calm(cluster, 40))
  return cluster
}

const strategyOf = (cluster: ServingCluster) => cluster.servers.get('v1')?.spec?.strategy?.rollingUpdate
const imageOf = (cluster: ServingCluster) => cluster.servers.get('v1')?.spec?.template.spec?.containers[0]?.image
const recordOf = (cluster: ServingCluster) => cluster.model.status?.activeVersions?.[0]?.rollingUpdate
const WITH = { maxSurge: 1, maxUnavailable: 0 }
const WITHOUT = { maxSurge: 0, maxUnavailable: 1 }
const two = { scaling: { minReplicas: 2, maxReplicas: 2 } }
const changed = { image: 'iris:2' }

interface Case {
  readonly name: string
  readonly nodes: readonly number[]
  readonly spec?: object
  readonly change?: object
  readonly others?: number
  readonly expect: object
  readonly says?: RegExp
}

const table: readonly Case[] = [
  { name: 'a free GPU', nodes: [2], expect: WITH },
  { name: 'a free GPU on another node', nodes: [1, 1], expect: WITH },
  {
    name: 'no free GPU',
    nodes: [1],
    expect: WITHOUT,
    says: /^Rolling out v1 without surge: 0 of 1 GPU is free; its only/,
  },
  {
    name: 'the other GPU is held by others',
    nodes: [2],
    others: 1,
    expect: WITHOUT,
    says: /: 0 of 2 GPUs are free; its/,
  },
  {
    name: 'several pods',
    nodes: [2],
    spec: two,
    expect: WITHOUT,
    says: /0 of 2 GPUs are free; pods are .* one at a time/,
  },
  {
    name: 'free GPUs, but not on one node',
    nodes: [3, 1],
    spec: gpus(2),
    expect: WITHOUT,
    says: /2 of 4 GPUs are free, but not 2 on one node;/,
  },
  {
    name: 'more GPUs than a pod that ends releases',
    nodes: [1, 1],
    spec: two,
    change: gpus(2),
    expect: WITH,
    says: /^Rolling out v1 with surge: 0 of 2 GPUs are free, and ending a pod of v1 makes no room/,
  },
  {
    name: 'nodes that do not fit any more',
    nodes: [1],
    change: { scheduling: { nodeSelector: { pool: 'other' } } },
    expect: WITH,
    says: /with surge: no node that fits has a GPU/,
  },
  {
    name: 'another device',
    nodes: [0],
    spec: { resources: { limits: { 'example.com/tpu': 1 } } },
    expect: WITHOUT,
    says: /0 of 1 example.com\/tpu is free/,
  },
]

for (const { name, nodes, spec = {}, change = changed, others = 0, expect, says } of table)
  test(`with ${name}`, () => {
    const cluster = running(nodes, spec)
    cluster.gpus.taken = others
    cluster.edit(change)
    const first = planServing(cluster.observed)
    cluster.pass()
    const record = recordOf(cluster)
    if (says) {
      assert.match(record?.message ?? '', says)
      assert.deepEqual(
        objectsToWrite(first).filter(({ kind }) => kind === 'Deployment'),
        [],
        'recorded first',
      )
      cluster.pass()
    } else assert.equal(record, undefined)
    assert.deepEqual(strategyOf(cluster), expect)
    assert.ok(deviceDemands(cluster.observed).length === 0, 'it is decided')
    const told = first.events.filter(({ reason }) => reason === 'RollingOutWithoutSurge')
    assert.equal(told.length, expect === WITHOUT ? 1 : 0)
    assert.equal(told[0]?.type ?? 'none', expect === WITH ? 'none' : spec === two ? 'Normal' : 'Warning')
  })

test('the decision holds until all pods are replaced, whatever is free by then, and is forgotten afterwards', () => {
  const cluster = running([1])
  cluster.edit(changed)
  cluster.pass()
  cluster.gpus.nodes = [deviceNode('node-0', 8)]
  cluster.pass()
  assert.deepEqual([imageOf(cluster), strategyOf(cluster)], ['iris:2', WITHOUT])
  cluster.control()
  cluster.change('v1', () => 0)
  cluster.report('v1')
  cluster.pass()
  assert.deepEqual(strategyOf(cluster), WITHOUT, 'its only pod has ended')
  const progressing = cluster.model.status?.conditions?.find(({ type }) => type === 'Progressing')
  assert.equal(progressing?.reason, 'RollingOut')
  assert.match(progressing?.message ?? '', /without surge: 0 of 1 GPU is free.* \(0 of 1 pod ready\)$/)
  assert.ok(calm(cluster, 20))
  assert.equal(recordOf(cluster), undefined)
  assert.deepEqual(strategyOf(cluster), WITH)
})

test('a model at rest is not written when GPUs are taken or free', () => {
  const cluster = running([1])
  const writes = cluster.writes.length
  for (const count of [0, 1, 8]) {
    cluster.gpus.nodes = [deviceNode('node-0', count)]
    assert.deepEqual(deviceDemands(cluster.observed), [], 'nothing is read')
    cluster.pass()
  }
  assert.equal(cluster.writes.length, writes)
})

test('a device with a long name fits into the status', () => {
  const device = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}/${'e'.repeat(63)}`
  const cluster = running([1], { resources: { limits: { [device]: 1 } } })
  cluster.edit(changed)
  cluster.pass()
  assert.equal(recordOf(cluster)?.maxSurge, 1)
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status))
})

test('a change that is taken back before it is written leaves no record', () => {
  const cluster = running([1])
  cluster.edit(changed)
  cluster.pass()
  assert.ok(recordOf(cluster))
  cluster.edit({ image: 'iris:1' })
  cluster.pass()
  assert.equal(recordOf(cluster), undefined)
  assert.equal(imageOf(cluster), 'iris:1')
})

test('the next change is decided anew, by what is free then', () => {
  const cluster = running([1])
  cluster.edit(changed)
  cluster.pass()
  cluster.gpus.nodes = [deviceNode('node-0', 8)]
  cluster.edit({ image: 'iris:3' })
  cluster.pass()
  assert.deepEqual([imageOf(cluster), strategyOf(cluster), recordOf(cluster)], ['iris:3', WITH, undefined])
})

test('where nodes are not known, and for the Deployment of an earlier release, pods surge as before', () => {
  const unknown = running([1])
  unknown.edit(changed)
  const { devices: _devices, ...observed } = unknown.observed
  const [written] = objectsToWrite(planServing(observed)).filter(({ kind }) => kind === 'Deployment') as Deployment[]
  assert.deepEqual(written?.spec?.strategy?.rollingUpdate, WITH)
  const old = running([1])
  const key = 'Deployment/iris-deployment'
  const live = old.objects.get(key) as Deployment
  const { [TEMPLATE_ANNOTATION]: _digest, ...annotations } = live.metadata.annotations ?? {}
  old.objects.set(key, { ...live, metadata: { ...live.metadata, annotations } })
  assert.deepEqual(deviceDemands(old.observed), [])
})

test('a new version says that its GPUs are not free before it has pods, once, and is created', () => {
  const rollout = { rollout: { steps: [{ weight: 10 }] }, traffic: { provider: 'router' } }
  const cluster = running([1], rollout)
  const version = { name: 'v2', weight: 100, modelPath: '/models/v2' }
  cluster.edit({ versions: [version], scaling: { minReplicas: 2, maxReplicas: 2 } })
  const { events } = planServing(cluster.observed)
  const told = events.filter(({ reason }) => reason === 'InsufficientGPU')
  assert.deepEqual(
    told.map(({ type, note }) => [type, note]),
    [
      [
        'Warning',
        'v2: 0 of 1 GPU is free on nodes that fit, for 2 pods of v2; they wait for a node: add nodes, free devices, or use the strategy recreate',
      ],
    ],
  )
  cluster.pass()
  assert.ok(cluster.servers.has('v2'))
  const next = planServing(cluster.observed)
  assert.deepEqual(
    next.events.filter(({ type }) => type === 'Warning'),
    [],
    'said once',
  )
  assert.equal(next.status?.activeVersions?.find(({ name }) => name === 'v2')?.reason, 'InsufficientGPU')
  cluster.pass()
  assert.match(cluster.model.status?.rollout?.message ?? '', /waiting for v2 to be ready \(0 of 1 GPU is free/)
})
