/** A foreign object with the name of a child is reported, never touched, and noticed as soon as it is deleted. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { ConfigMap, Event, Pod, Service } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { Audit } from '../client/audit.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { Kubelet } from '../fakes/kubelet.ts'
import { startOperator } from '../operator/operator.ts'
import { conditionOf, MODEL, servingFixture } from '../fixtures/serving.ts'
import { trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

/** Far below the minute after which a conflict would be retried without a watch. */
const SOON_MS = 20_000

const foreign = (ns: string, resource: Resource, name: string): KubeObject => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata: { namespace: ns, name },
  ...(resource.kind === 'Service' && { spec: { selector: { app: 'theirs' }, ports: [{ port: 80 }] } }),
})

const ABOUT_WRITES = ['Conflict', 'Refused', 'ReconcileFailed', 'ApplyFailed']

/** The events about failed writes. */
const warnings = async (ns: string): Promise<string[]> =>
  (await client.list(Event, { namespace: ns })).items
    .map(({ reason }) => reason ?? '')
    .filter((reason) => ABOUT_WRITES.includes(reason))

async function setUpTraining(t: TestContext) {
  const ns = await namespace(t)
  const key = { namespace: ns, name: 'bert' }
  const audit = new Audit()
  const operator = startOperator({ cluster, namespace: ns, interceptors: [audit.interceptor] })
  const kubelet = new Kubelet({ client, namespace: ns, node: node.name, decide: () => undefined })
  t.after(async () => {
    await Promise.all([operator.stop(), kubelet.stop()])
    await client.patch(trainingJobs, key, { metadata: { finalizers: null } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  })
  const job = () => client.get(trainingJobs, key)
  return {
    ns,
    audit,
    job,
    create: () => client.create(trainingJobs, trainingJob(ns, 'bert', { hyperparameters: { epochs: 3 } })),
  }
}

describe('a TrainingJob', () => {
  for (const [resource, name] of [
    [Service, 'bert-workers'],
    [ConfigMap, 'bert-config'],
  ] as const)
    test(`starts no worker while its ${resource.kind} has another owner, and starts when that is deleted`, async (t) => {
      const { ns, job, create, audit } = await setUpTraining(t)
      const foreignObject = await client.create(resource, foreign(ns, resource, name))
      await create()
      const { status } = await until('the conflict', async () => {
        const found = await job()
        return found.status?.reason?.startsWith('Conflict: ') ? found : undefined
      })
      assert.equal(status?.state, 'Pending')
      assert.match(status.reason ?? '', new RegExp(`^Conflict: ${resource.kind}/${name} already exists`))
      const conditions = new Map(status.conditions?.map(({ type, status: value }) => [type, value]))
      assert.deepEqual([conditions.get('WorkersReady'), conditions.get('Conflict')], ['False', 'True'])
      // A change of the foreign object does not end the conflict.
      await client.patch(resource, { namespace: ns, name }, { metadata: { labels: { changed: 'once' } } })
      await until('the event', async () => (await warnings(ns)).length > 0)
      assert.deepEqual((await client.list(Pod, { namespace: ns })).items, [])
      assert.ok(
        audit.writes.every(({ verb, what }) => verb !== 'delete' && what !== `pods/${foreignObject.metadata.name}`),
      )

      await client.delete(resource, { namespace: ns, name })
      const running = await until(
        'the job to run',
        async () => {
          const found = await job()
          return found.status?.state === 'Running' ? found : undefined
        },
        SOON_MS,
      )
      assert.deepEqual([running.status?.failures, running.status?.attempts, running.status?.reason], [0, 1, undefined])
      assert.ok(running.status?.conditions?.every(({ type }) => type !== 'Conflict'))
      assert.deepEqual(await warnings(ns), ['Conflict'])
    })

  test('reports a pod of another owner that has the name of a worker, and runs when that is deleted', async (t) => {
    const { ns, job, create } = await setUpTraining(t)
    const pod = { ...foreign(ns, Pod, 'bert-workers-0'), spec: { containers: [{ name: 'main', image: 'theirs' }] } }
    const { metadata } = await client.create(Pod, pod)
    await create()
    await until('the conflict', async () => (await job()).status?.reason?.startsWith('Conflict: Pod/bert-workers-0'))
    assert.equal((await client.get(Pod, keyOf(pod))).metadata.uid, metadata.uid)
    await client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0 })
    await until('the job to run', async () => (await job()).status?.state === 'Running', SOON_MS)
    assert.deepEqual(await warnings(ns), ['Conflict'])
  })

  test('ignores an object of that name in another namespace', async (t) => {
    const { job, create, ns } = await setUpTraining(t)
    const other = await namespace(t)
    await client.create(Service, foreign(other, Service, 'bert-workers'))
    await create()
    await until('the job to run', async () => (await job()).status?.state === 'Running')
    assert.deepEqual(await warnings(ns), [])
  })
})

describe('a ModelDeployment', () => {
  const setUp = async (t: TestContext) =>
    servingFixture(t, { client, cluster, node: node.name }, { namespace: await namespace(t) })

  test('is not Ready and has no URL while its Service has another owner, and serves when that is deleted', async (t) => {
    const { create, becomes, pods, namespace: ns } = await setUp(t)
    const name = `${MODEL}-service`
    await client.create(Service, foreign(ns, Service, name))
    await create()
    await until('its pods to run', async () => {
      const all = await pods()
      return all.length > 0 && all.every(({ status }) => status?.phase === 'Running')
    })
    const model = await becomes('in conflict', (found) => conditionOf(found, 'Ready').reason === 'Conflict')
    assert.deepEqual([model.status?.phase, model.status?.url], ['Failed', undefined])
    assert.match(model.status?.message ?? '', /^Service\/bert-service already exists/)
    assert.equal(conditionOf(model, 'Ready').status, 'False')
    await client.delete(Service, { namespace: ns, name })
    await until(
      'the model to run',
      async () => (await becomes('known', () => true)).status?.phase === 'Running',
      SOON_MS,
    )
    assert.deepEqual(await warnings(ns), ['Conflict'])
  })

  test('loses Ready and its URL when another client replaces its Service', async (t) => {
    const { create, becomes, reaches, namespace: ns } = await setUp(t)
    const name = `${MODEL}-service`
    await create()
    await reaches('Running')
    await until('the name to be taken', async () => {
      await client.delete(Service, { namespace: ns, name }).catch(() => undefined)
      return client.create(Service, foreign(ns, Service, name))
    })
    const model = await becomes('in conflict', (found) => conditionOf(found, 'Ready').reason === 'Conflict')
    assert.deepEqual([conditionOf(model, 'Ready').status, model.status?.url], ['False', undefined])
    await client.delete(Service, { namespace: ns, name })
    await until(
      'the model to run',
      async () => (await becomes('known', () => true)).status?.phase === 'Running',
      SOON_MS,
    )
  })
})
