/** Jobs in a queue on a real API server with the CRDs of Kueue, on a cluster of its own. The test plays Kueue. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { apiVersionOf, controllerOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import {
  PriorityClass,
  ResourceFlavor,
  Workload,
  WorkloadPriorityClass,
} from '../../src/plan/training/gangs/kueue/kinds.ts'
import { type SpecInput, succeedTogether, trainingJob } from '../builders/training-job.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { installPublished } from '../cluster/traffic-crds.ts'
import { ownNamespace } from '../fixtures/serving.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { admitted, evicted, holds, refused } from '../sim/queue.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await ownCluster()
const QUEUE = 'kueue.x-k8s.io/queue-name'

async function installKueue(): Promise<void> {
  for (const kind of [Workload, ResourceFlavor, WorkloadPriorityClass]) await installPublished(client, kind)
  await provide(ResourceFlavor, 'a100', {
    spec: { nodeLabels: { pool: 'a100' }, tolerations: [{ operator: 'Exists' }] },
  })
  await provide(WorkloadPriorityClass, 'nightly', { value: 7 })
  await provide(PriorityClass, 'training-high', { value: 100 })
}

async function provide(resource: Resource, name: string, content: object): Promise<void> {
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, ...content }
  await client.apply(resource, object, { force: true })
}

async function setUp(t: TestContext, name: string) {
  const namespace = await ownNamespace(t, client, name)
  const fixture = trainingFixture(
    t,
    { cluster, client, node: node.name },
    { namespace, resyncMs: 200, discoveryMs: 200 },
  )
  return { ...fixture, ...queueOf(namespace) }
}

/** The Workload of the job, and what Kueue does to it. */
function queueOf(namespace: string) {
  const workload = () =>
    until('one Workload', async () => {
      const { items } = await client.list(Workload, { namespace })
      return items.length === 1 ? items[0] : undefined
    })
  const play = (change: (one: KubeObject, now: number) => KubeObject) =>
    until('the status of the Workload', async () => {
      const one = { ...(await workload()), apiVersion: apiVersionOf(Workload), kind: Workload.kind }
      const { status } = change(one, Date.now()) as Workload
      const { name, resourceVersion } = one.metadata
      const body = { metadata: { resourceVersion }, status }
      return client.patch(Workload, { namespace, name }, body, { subresource: 'status' }).then(
        () => true,
        () => false,
      )
    })
  const hasCondition = (type: string, expected: string) =>
    until(`condition ${type} ${expected}`, async () => {
      const { status, reason } = (await workload()).status?.conditions?.find((one) => one.type === type) ?? {}
      return `${status} ${reason}` === expected
    })
  const createQueued = (labels: Record<string, string>, spec: SpecInput = {}) => {
    const job = trainingJob(namespace, NAME, spec)
    return client.create(trainingJobs, { ...job, metadata: { ...job.metadata, labels } })
  }
  return { workload, play, hasCondition, createQueued }
}

const waitsWithoutPods = async (ns: string): Promise<void> =>
  assert.deepEqual((await client.list(Pod, { namespace: ns })).items, [])

test('without Kueue, a job with a queue waits and says so, and starts when Kueue is there', async (t) => {
  const { createQueued, reaches, workload, play, runs, ns } = await setUp(t, 'later')
  await createQueued({ [QUEUE]: 'research' })
  const { status } = await reaches('Pending')
  assert.match(status?.reason ?? '', /^GangSchedulerUnavailable: the job has the label kueue.x-k8s.io\/queue-name/)
  await waitsWithoutPods(ns)
  await installKueue()
  await workload()
  await play(admitted)
  await runs(2)
})

test('a job waits, is admitted, preempted, queued again and finished, and is charged nothing', async (t) => {
  await installKueue()
  const { createQueued, job, workload, play, runs, reaches, hasCondition, kubelet, ns } = await setUp(t, 'life')
  await createQueued({ [QUEUE]: 'research', 'kueue.x-k8s.io/priority-class': 'nightly' })
  const { metadata, spec } = await workload()
  assert.equal(controllerOf({ apiVersion: '', kind: '', metadata })?.name, NAME)
  assert.deepEqual([spec.queueName, spec.priority, spec.podSets[0]?.count], ['research', 7, 2])
  await play((one, now) => refused(one, now, 'insufficient unused quota for cpu in flavor a100, 1 more needed'))
  await until('the reason', async () => (await job()).status?.reason?.includes('1 more needed'))
  assert.equal((await job()).status?.scheduling?.pending?.reason, 'WaitingForQuota')
  await waitsWithoutPods(ns)
  await play(admitted)
  const pods = await runs(2)
  assert.ok(pods.every((pod) => pod.spec?.nodeSelector?.['pool'] === 'a100'))
  await hasCondition('PodsReady', 'True Started')
  await play(evicted)
  await hasCondition('Requeued', 'True Preempted')
  assert.equal((await workload()).status?.admission, undefined)
  await waitsWithoutPods(ns)
  kubelet.decide(succeedTogether(2))
  await play(admitted)
  const { status } = await reaches('Completed')
  assert.deepEqual([status?.failures, status?.attempts, status?.restarts], [0, 2, 0])
  await hasCondition('Finished', 'True Succeeded')
  assert.equal((await workload()).metadata.uid, metadata.uid)
})

test('a foreign Workload of that name is a conflict; a deleted job takes its own with it', async (t) => {
  await installKueue()
  const { create, workload, play, runs, condition, disappears, ns, key } = await setUp(t, 'conflict')
  const scheduling = { gang: 'kueue', queueName: 'research', priorityClassName: 'training-high' } as const
  await create({ scheduling })
  const { metadata, spec } = await workload()
  assert.equal(spec.priority, 100)
  await play(admitted)
  await runs(2)
  await client.delete(trainingJobs, key)
  await disappears(trainingJobs, NAME)
  await disappears(Workload, metadata.name)
  const foreign = {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { namespace: ns, name: metadata.name },
  }
  await client.create(Workload, { ...foreign, spec: { podSets: spec.podSets } })
  await create({ scheduling })
  await until('the conflict', async () => (await condition('Conflict'))?.status === 'True')
  await waitsWithoutPods(ns)
})

test('a Workload that asks for less than the job is replaced', async (t) => {
  await installKueue()
  const { create, workload, ns } = await setUp(t, 'edited')
  await create({ scheduling: { queueName: 'research', gang: 'kueue' } })
  const { metadata, spec } = await workload()
  const podSets = spec.podSets.map((one) => ({ ...one, count: 1 }))
  await client.patch(Workload, { namespace: ns, name: metadata.name }, { spec: { podSets } })
  await until('another Workload', async () => (await workload()).metadata.uid !== metadata.uid)
  await waitsWithoutPods(ns)
  assert.ok(!holds({ ...(await workload()), kind: Workload.kind }, 'Admitted'))
})

test('a job that another controller manages is left alone', async (t) => {
  const { create, job, passesThrice, ns } = await setUp(t, 'managed')
  await create({ managedBy: 'kueue.x-k8s.io/multikueue' })
  await passesThrice()
  const { metadata, status } = await job()
  assert.deepEqual([metadata.finalizers, status], [undefined, undefined])
  await waitsWithoutPods(ns)
})
