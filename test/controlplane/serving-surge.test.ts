/** Pods with GPUs are replaced by what is free on the nodes, which the real scheduler then confirms. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Deployment, Pod } from '../../src/kube/resources.ts'
import { TEMPLATE_ANNOTATION } from '../../src/plan/serving/objects/deployment.ts'
import { nodePods } from '../../src/reconcile/gather-devices.ts'
import { createLogger } from '../../src/runtime/index.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { fakeNode } from '../fakes/kubelet.ts'
import { servingOutcome } from '../fakes/routers.ts'
import { conditionOf, MODEL, servingFixture, versionIn } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()
const GPU = 'nvidia.com/gpu'
const outcome = servingOutcome()

/** A node of this test's own, with GPUs, and a model whose pods only it takes. The scheduler binds them. */
async function setUp(t: TestContext, gpus: number) {
  const ns = await namespace(t)
  const taint = { key: `only-${ns}`, effect: 'NoSchedule' }
  const own = await fakeNode(client, {
    taint,
    resources: { cpu: '64', memory: '256Gi', pods: '110', [GPU]: `${gpus}` },
  })
  t.after(() => own.remove())
  const decide = (pod: Pod) => (pod.spec?.nodeName === undefined ? 'unscheduled' : outcome(pod))
  const fixture = servingFixture(t, { client, cluster, node: own.name }, { namespace: ns, decide })
  const tolerations = [{ key: taint.key, operator: 'Exists' as const }]
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { [GPU]: 1 } }
  await fixture.create({ resources, scheduling: { tolerations } })
  await fixture.reaches('Running')
  return { ...fixture, ns, own: own.name, tolerations }
}

test('without a free GPU the only pod ends first, as recorded and said before, and no pod waits for a GPU', async (t) => {
  const { change, becomes, emits, get, kubelet } = await setUp(t, 1)
  const name = `${MODEL}-deployment`
  const before = (await get(Deployment, name)).metadata.annotations?.[TEMPLATE_ANNOTATION]
  await change({ image: 'example.com/server:2' })
  const event = await emits('RollingOutWithoutSurge')
  assert.equal(event.type, 'Warning')
  assert.match(event.note ?? '', /^Rolling out v1 without surge: 0 of 1 GPU is free; its only pod ends before/)
  const rolling = await until('the new template', async () => {
    const found = await get(Deployment, name)
    return found.metadata.annotations?.[TEMPLATE_ANNOTATION] === before ? undefined : found
  })
  assert.deepEqual(rolling.spec?.strategy?.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 })
  const done = await becomes('rolled out', (model) => {
    const image = kubelet.pods.every(({ spec }) => spec?.containers[0]?.image === 'example.com/server:2')
    return image && model.status?.phase === 'Running' && conditionOf(model, 'Progressing').status === 'False'
  })
  assert.equal(versionIn(done, 'v1').rollingUpdate, undefined)
  const settled = (await get(Deployment, name)).spec?.strategy?.rollingUpdate
  assert.deepEqual(settled, { maxSurge: 1, maxUnavailable: 0 })
})

test('with a free GPU the old pod serves until the new one is ready', async (t) => {
  const { change, becomes, events, kubelet } = await setUp(t, 2)
  await change({ image: 'example.com/server:3' })
  await becomes('rolled out', (model) => {
    const image = kubelet.pods.every(({ spec }) => spec?.containers[0]?.image === 'example.com/server:3')
    return image && model.status?.phase === 'Running' && conditionOf(model, 'Progressing').status === 'False'
  })
  const reasons = (await events()).map(({ reason }) => reason)
  assert.ok(!reasons.includes('RollingOutWithoutSurge') && !reasons.includes('ModelUnavailable'), reasons.join(' '))
})

test('a new version says that no GPU is free, and waits beside the old one', async (t) => {
  const { change, becomes } = await setUp(t, 1)
  await change({
    versions: [
      { name: 'v1', weight: 90, modelPath: '/models/v1' },
      { name: 'v2', weight: 10, modelPath: '/models/v2' },
    ],
  })
  const short = await becomes('short of GPUs', (model) => versionIn(model, 'v2').reason === 'InsufficientGPU')
  assert.equal(versionIn(short, 'v1').weight, 100)
})

test('pods of all namespaces on a node are read, where the operator may', async (t) => {
  const { own, tolerations } = await setUp(t, 2)
  const foreign = await namespace(t)
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'foreign', namespace: foreign },
    spec: {
      nodeName: own,
      tolerations,
      containers: [{ name: 'main', image: 'example.com/other:1', resources: { limits: { [GPU]: '1' } } }],
    },
  })
  const log = createLogger({ level: 'silent' })
  const read = nodePods({ client, signal: AbortSignal.timeout(60_000), log })
  const names = (await read(own))?.map(({ metadata }) => metadata.namespace)
  assert.ok(names?.includes(foreign))
  assert.deepEqual(await read(node.name), [], 'and only on this node')
})
