/** Pod templates of users on a real API server: what ends up in the pods, and what the API server rejects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { Resource } from '../../src/kube/object.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { running } from '../fakes/pod-status.ts'
import { servingFixture } from '../fixtures/serving.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()
const at = { cluster, client, node: node.name }

const claimTemplates: Resource = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  namespaced: true,
}

async function createClaimTemplate(into: string): Promise<void> {
  const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] }
  await client.create(claimTemplates, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { namespace: into, name: 'one-gpu' },
    spec: { spec: { devices } },
  } as never)
}

const sidecar = { name: 'shipper', image: 'example.com/shipper:1' }

function templateFor(own: string, isSidecarInit = false) {
  return {
    metadata: { labels: { team: 'vision' }, annotations: { note: 'mine' } },
    spec: {
      containers: [{ name: own, resources: { claims: [{ name: 'gpu' }] } }, ...(isSidecarInit ? [] : [sidecar])],
      ...(isSidecarInit && { initContainers: [{ ...sidecar, restartPolicy: 'Always' }] }),
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { team: 'vision' } },
        },
      ],
      hostNetwork: true,
    },
  } as never
}

function assertMerged({ metadata, spec }: Pod, own: string): void {
  assert.ok(spec)
  const { labels = {}, annotations = {} } = metadata
  assert.deepEqual([labels['team'], annotations['note']], ['vision', 'mine'])
  const { containers, initContainers = [], resourceClaims, topologySpreadConstraints: spread = [] } = spec
  const [first, ...others] = containers
  assert.deepEqual([first?.name, first?.resources?.claims], [own, [{ name: 'gpu' }]])
  assert.ok([...others, ...initContainers].some(({ name }) => name === 'shipper'))
  assert.deepEqual(resourceClaims, [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }])
  assert.deepEqual(
    spread.map(({ topologyKey }) => topologyKey),
    ['topology.kubernetes.io/zone'],
  )
  assert.deepEqual([spec.hostNetwork, spec.dnsPolicy], [true, 'ClusterFirstWithHostNet'])
}

for (const engine of ['pods', 'job'] as const) {
  test(`engine ${engine}: a sidecar, a topology spread and a device claim end up in the pods`, async (t) => {
    const ns = await namespace(t)
    await createClaimTemplate(ns)
    const { create, runs } = trainingFixture(t, at, { namespace: ns })
    await create({ engine, podTemplate: templateFor('training-worker', engine === 'job') })
    for (const pod of await runs(2)) assertMerged(pod, 'training-worker')
  })
}

test('a model with a sidecar, a topology spread and a device claim is ready', async (t) => {
  const ns = await namespace(t)
  await createClaimTemplate(ns)
  const { create, pods, reaches } = servingFixture(t, at, { namespace: ns })
  await create({ podTemplate: templateFor('server') })
  const all = await until('a pod', async () => ((await pods()).length > 0 ? pods() : undefined))
  for (const pod of all) assertMerged(pod, 'server')
  await reaches('Running')
})

const state = (name: string, exitCode: number | undefined) => {
  const time = new Date().toISOString().replace(/\.\d+/, '')
  const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: time, finishedAt: time }
  const known = exitCode === undefined ? { running: { startedAt: time } } : { terminated }
  return { name, image: '', imageID: '', ready: exitCode === undefined, restartCount: 0, state: known }
}

/** The worker has ended, and its sidecar runs on. */
const outlived = (pod: Pod, exitCode: number) => ({
  name: `outlived ${exitCode}`,
  status: { ...running(pod), containerStatuses: [state('training-worker', exitCode), state('shipper', undefined)] },
})

test('a job completes when its workers do, and then its sidecars are stopped', async (t) => {
  const { create, reaches, pods } = trainingFixture(t, at, {
    namespace: await namespace(t),
    decide: (pod) => (pod.status?.phase === 'Running' ? outlived(pod, 0) : undefined),
  })
  await create({ podTemplate: { spec: { containers: [sidecar] } } })
  const { status } = await reaches('Completed')
  assert.deepEqual([status?.failures, status?.workers?.succeeded], [0, 2])
  await until('the pods to be gone', async () => (await pods()).length === 0)
})

test('a failed worker fails although its sidecar runs', async (t) => {
  const { create, reaches } = trainingFixture(t, at, {
    namespace: await namespace(t),
    decide: (pod) => (pod.status?.phase === 'Running' ? outlived(pod, 3) : undefined),
  })
  await create({ backoffLimit: 0, podTemplate: { spec: { containers: [sidecar] } } })
  const { status } = await reaches('Failed')
  assert.deepEqual([status?.lastFailure?.exitCode, status?.lastFailure?.reason], [3, 'Error'])
})

test('a change of the template of a running job is pending until the next attempt', async (t) => {
  const { create, change, job, runs } = trainingFixture(t, at, { namespace: await namespace(t) })
  await create({})
  await runs(2)
  await until('running', async () => (await job()).status?.state === 'Running')
  await change({ podTemplate: { spec: { terminationGracePeriodSeconds: 5 } } as never })
  await until('ChangePending', async () =>
    (await job()).status?.conditions?.some(({ type }) => type === 'ChangePending'),
  )
})

const bad = [
  ['an unknown field', { noSuchField: 1 }, 'noSuchField'],
  ['a wrong type', { terminationGracePeriodSeconds: 'soon' }, 'terminationGracePeriodSeconds'],
  ['a wrong value', { dnsPolicy: 'Nope' }, 'dnsPolicy'],
] as const

for (const [what, spec, word] of bad) {
  test(`${what} in a template is reported in the status, once, and a corrected one is applied`, async (t) => {
    const ns = await namespace(t)
    const training = trainingFixture(t, at, { namespace: ns })
    const serving = servingFixture(t, at, { namespace: ns })
    await training.create({ podTemplate: { spec } as never })
    await serving.create({ podTemplate: { spec } as never })
    const read = async () => [
      (await client.get(trainingJobs, training.key)).status?.reason ?? '',
      (await client.get(modelDeployments, serving.key)).status?.message ?? '',
    ]
    await until('both reasons', async () => (await read()).every((text) => text.includes(word)))
    assert.match((await read())[0] ?? '', /^Refused: /)
    const reported = (await training.events()).filter(({ reason }) => reason === 'ReconcileFailed')
    assert.equal(reported.filter(({ regarding }) => regarding?.kind === 'TrainingJob').length, 1)
    assert.ok((await training.operator().passes()) < 10, 'passes')
    await training.change({ podTemplate: null } as never)
    await training.runs(2)
  })
}
