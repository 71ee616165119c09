/** Pods with the labels of a job that do not belong to it. On a cluster of its own: the operator serves all namespaces. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import type { OwnerReference } from '../../src/kube/object.ts'
import { ConfigMap, Job, Pod } from '../../src/kube/resources.ts'
import { ATTEMPT_LABEL, CONTAINER, INDEX_LABEL, JOB_UID_LABEL, ROLE_LABEL } from '../../src/plan/training/index.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { ended, running } from '../fakes/pod-status.ts'
import { ownNamespace } from '../fixtures/serving.ts'
import { succeedTogether } from '../builders/training-job.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await ownCluster()

const FINALIZER = 'test.example.com/stay'

/** Creates a pod with every label of a worker. A finalizer keeps it until `release`. */
async function forge(namespace: string, job: TrainingJob, rank: number, owner?: OwnerReference): Promise<Pod> {
  const labels = {
    app: 'trainingjob',
    component: 'worker',
    trainingjob: NAME,
    [JOB_UID_LABEL]: job.metadata.uid ?? '',
    [ATTEMPT_LABEL]: '1',
    [ROLE_LABEL]: 'worker',
    [INDEX_LABEL]: String(rank),
  }
  const references = owner ? { ownerReferences: [owner] } : {}
  return client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `forged-${rank}`, labels, finalizers: [FINALIZER], ...references },
    spec: { nodeName: node.name, containers: [{ name: CONTAINER, image: 'example.com/forged' }] },
  })
}

async function release({ metadata: { namespace = '', name } }: Pod): Promise<void> {
  await client.patch(Pod, { namespace, name }, { metadata: { finalizers: null } })
}

/** Creates an owner in the job's namespace, so that the garbage collector keeps the pods it controls. */
async function createOwner(namespace: string): Promise<OwnerReference> {
  const { apiVersion, kind, metadata } = await client.create(ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: 'owner' },
  })
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }
}

const places: Readonly<Record<string, (own: string, other: string) => Promise<[string, OwnerReference?]>>> = {
  'in another namespace': async (_own, other) => [other],
  'in the same namespace, without a controller': async (own) => [own],
  'in the same namespace, controlled by another uid': async (own) => [own, await createOwner(own)],
}

let count = 0

async function setUp(t: TestContext) {
  count += 1
  const [own, other] = [await ownNamespace(t, client, `own-${count}`), await ownNamespace(t, client, `other-${count}`)]
  const place = { cluster, client, node: node.name }
  return { own, other, ...trainingFixture(t, place, { namespace: own, everywhere: true, resyncMs: 100 }) }
}

for (const [place, chosen] of Object.entries(places)) {
  for (const engine of ['pods', 'job'] as const) {
    test(`engine ${engine}: ignores forged pods ${place}`, async (t) => {
      const { own, other, create, runs, kubelet, job, key, disappears, passesThrice } = await setUp(t)
      const created = await create({ engine, backoffLimit: 0 })
      await runs(2)
      await kubelet.stop()
      const [namespace, owner] = await chosen(own, other)
      const forged = [await forge(namespace, created, 0, owner), await forge(namespace, created, 1, owner)]
      t.after(() => Promise.all(forged.map(release)))
      for (const exitCode of [0, 1]) {
        for (const pod of forged) {
          const at = { namespace, name: pod.metadata.name }
          await client.patch(Pod, at, { status: running(pod) }, { subresource: 'status' })
          await client.patch(Pod, at, { status: ended(pod, { exitCode }) }, { subresource: 'status' })
        }
        await passesThrice()
        const { status } = await job()
        assert.deepEqual([status?.state, status?.attempts, status?.failures], ['Running', 1, 0])
      }
      await client.delete(trainingJobs, key)
      await removeTerminating(own, forged)
      await disappears(trainingJobs, NAME)
      for (const { metadata } of forged) {
        const left = await client.get(Pod, { namespace, name: metadata.name })
        assert.equal(left.metadata.uid, metadata.uid)
        assert.equal(left.metadata.deletionTimestamp, undefined)
      }
    })
  }
}

/** Removes the terminating pods of a namespace, except for the forged ones. */
async function removeTerminating(namespace: string, forged: readonly Pod[]): Promise<void> {
  const names = new Set(forged.map(({ metadata }) => metadata.name))
  await until('the workers to be gone', async () => {
    const { items } = await client.list(Pod, { namespace })
    const own = items.filter(({ metadata }) => !names.has(metadata.name))
    for (const { metadata } of own.filter((pod) => pod.metadata.deletionTimestamp !== undefined))
      await client.delete(Pod, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 })
    return own.length === 0
  })
}

test('completes a real gang beside forged pods', async (t) => {
  const { other, create, runs, kubelet, reaches } = await setUp(t)
  const created = await create()
  await runs(2)
  const forged = await forge(other, created, 0)
  t.after(() => release(forged))
  await client.patch(
    Pod,
    { namespace: other, name: forged.metadata.name },
    { status: ended(forged, { exitCode: 1 }) },
    { subresource: 'status' },
  )
  kubelet.decide(succeedTogether(2))
  const { status } = await reaches('Completed')
  assert.deepEqual([status?.attempts, status?.failures, status?.workers?.succeeded], [1, 0, 2])
})

test('engine job: a forged pod of a deleted Job does not end the running Job', async (t) => {
  const { own, create, runs, kubelet, job, passesThrice } = await setUp(t)
  const created = await create({ engine: 'job', backoffLimit: 0 })
  await runs(2)
  await kubelet.stop()
  const at = { namespace: own, name: `${NAME}-job` }
  const { metadata } = await client.get(Job, at)
  const deleted = { apiVersion: 'batch/v1', kind: 'Job', name: at.name, uid: randomUUID(), controller: true }
  const forged = await forge(own, created, 0, deleted)
  t.after(() => release(forged))
  const forgedAt = { namespace: own, name: forged.metadata.name }
  await client.patch(Pod, forgedAt, { status: running(forged) }, { subresource: 'status' })
  await passesThrice()
  const { status } = await job()
  assert.deepEqual([status?.state, status?.attempts, status?.failures], ['Running', 1, 0])
  const left = await client.get(Job, at)
  assert.deepEqual([left.metadata.uid, left.spec?.suspend], [metadata.uid, false])
})
