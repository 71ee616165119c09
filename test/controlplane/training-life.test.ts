/** The lifecycle of a TrainingJob on a real API server, with workers of a fake kubelet. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Job, Node, PersistentVolumeClaim, Pod, Secret, Service } from '../../src/kube/resources.ts'
import { FINALIZER } from '../../src/plan/training/index.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { type Decide, fakeNode } from '../fakes/kubelet.ts'
import { attemptOf, envOf, endOne, type SpecInput, succeedTogether } from '../builders/training-job.ts'
import { NAME, trainingFixture, type TrainingFixtureOptions } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

type Setup = Omit<TrainingFixtureOptions, 'namespace' | 'decide'> & { readonly node?: string }

async function setUp(t: TestContext, decide: Decide = () => undefined, { node: name, ...options }: Setup = {}) {
  return trainingFixture(
    t,
    { cluster, client, node: name ?? node.name },
    { namespace: await namespace(t), decide, ...options },
  )
}

describe('a TrainingJob', () => {
  test('creates workers that can reach each other', async (t) => {
    const { create, runs, reaches, ns } = await setUp(t)
    await create({ numWorkers: 3 })
    const workers = await runs(3)
    assert.deepEqual(
      workers.map(({ metadata }) => metadata.name),
      ['bert-workers-0', 'bert-workers-1', 'bert-workers-2'],
    )
    const master = 'bert-workers-0.bert-workers'
    for (const pod of workers) assert.ok(envOf(pod, 'MASTER_ADDR')?.startsWith(master), envOf(pod, 'MASTER_ADDR'))
    const { spec } = await client.get(Service, { namespace: ns, name: 'bert-workers' })
    assert.equal(spec?.clusterIP, 'None')
    assert.equal(spec?.publishNotReadyAddresses, true)
    const running = await reaches('Running')
    assert.equal(running.status?.workers?.active, 3)
    assert.equal(running.status?.resources?.allocatedNodes, 1)
  })

  test('completes when all workers have succeeded', async (t) => {
    const { create, reaches, pods, emits, condition } = await setUp(t, succeedTogether(3))
    await create({ numWorkers: 3 })
    const { status, metadata } = await reaches('Completed')
    assert.deepEqual(metadata.finalizers, [FINALIZER])
    assert.equal(status?.workers?.succeeded, 3)
    assert.equal(status?.attempts, 1)
    assert.ok(status?.startTime && status.completionTime)
    assert.equal((await condition('Complete'))?.status, 'True')
    assert.equal((await pods()).length, 3)
    await emits('WorkersCreated')
    await emits('TrainingCompleted')
  })

  test('restarts the gang once for a failed worker', async (t) => {
    const decide = endOne({ exitCode: 137, reason: 'OOMKilled' }, { rank: 1, attempt: 1, size: 2 })
    const { create, reaches, pods, emits } = await setUp(t, decide)
    await create()
    const { status } = await reaches('Completed')
    assert.equal(status?.attempts, 2)
    assert.equal(status?.failures, 1)
    const { worker, exitCode, reason, node: at, counted } = status?.lastFailure ?? {}
    assert.deepEqual(
      { worker, exitCode, reason, at, counted },
      { worker: 1, exitCode: 137, reason: 'OOMKilled', at: node.name, counted: true },
    )
    assert.deepEqual((await pods()).map(attemptOf), [2, 2])
    await emits('WorkerFailed')
  })

  test('does not count a disruption against backoffLimit', async (t) => {
    const decide = endOne({ disruption: 'PreemptionByScheduler' }, { rank: 0, attempt: 1, size: 2 })
    const { create, reaches } = await setUp(t, decide)
    await create({ backoffLimit: 0 })
    const { status } = await reaches('Completed')
    assert.equal(status?.attempts, 2)
    assert.equal(status?.failures ?? 0, 0)
    assert.equal(status?.lastFailure?.counted, false)
  })

  test('fails when backoffLimit is exceeded', async (t) => {
    const always: Decide = (pod, pods) =>
      endOne({ exitCode: 1 }, { rank: 0, attempt: attemptOf(pod), size: 2 })(pod, pods)
    const { create, reaches, condition } = await setUp(t, always)
    await create({ backoffLimit: 2 })
    const { status } = await reaches('Failed')
    assert.equal(status?.attempts, 3)
    assert.equal((await condition('Failed'))?.reason, 'BackoffLimitReached')
  })

  test('has no pods while suspended, and completes after it is resumed', async (t) => {
    const { create, change, runs, reaches, pods, kubelet } = await setUp(t)
    await create()
    await runs(2)
    await change({ suspend: true })
    await reaches('Suspended')
    assert.deepEqual(await pods(), [])
    kubelet.decide(succeedTogether(2))
    await change({ suspend: false })
    const { status } = await reaches('Completed')
    assert.equal(status?.failures ?? 0, 0)
  })

  test('creates no pods when it is created suspended', async (t) => {
    const { create, reaches, pods } = await setUp(t)
    await create({ suspend: true })
    await reaches('Suspended')
    assert.deepEqual(await pods(), [])
  })

  test('deletes its workers and keeps its checkpoints when it is deleted', async (t) => {
    const { create, runs, key, ns, disappears, pods } = await setUp(t)
    await create()
    await runs(2)
    await client.delete(trainingJobs, key)
    await disappears(trainingJobs, NAME)
    assert.deepEqual(await pods(), [])
    await disappears(Service, 'bert-workers')
    const claim = await client.get(PersistentVolumeClaim, { namespace: ns, name: 'bert-checkpoints' })
    assert.equal(claim.metadata.deletionTimestamp, undefined)
    assert.equal(claim.metadata.ownerReferences, undefined)
  })

  test('deletes its checkpoints with deleteOnCompletion', async (t) => {
    const { create, runs, key, disappears } = await setUp(t)
    await create({ checkpoint: { deleteOnCompletion: true } })
    await runs(2)
    await client.delete(trainingJobs, key)
    await disappears(trainingJobs, NAME)
    await disappears(PersistentVolumeClaim, 'bert-checkpoints')
  })

  test('does not change an object of another owner, and reports the conflict', async (t) => {
    const { create, ns, condition, audit, emits } = await setUp(t)
    const foreign: Service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: ns, name: 'bert-workers' },
      spec: { ports: [{ port: 80 }] },
    }
    const before = await client.create(Service, foreign)
    await create()
    const conflict = await until('the condition Conflict', () => condition('Conflict'))
    assert.equal(conflict.status, 'True')
    assert.match(conflict.message, /Service\/bert-workers/)
    const later: KubeObject = await client.get(Service, { namespace: ns, name: 'bert-workers' })
    assert.equal(later.metadata.resourceVersion, before.metadata.resourceVersion)
    assert.ok(audit.writes.every(({ verb, what }) => verb !== 'delete' || !what.startsWith('services')))
    await emits('Conflict')
  })

  test('writes nothing once it has converged, also after a restart of the operator', async (t) => {
    const fixture = await setUp(t, () => undefined, { resyncMs: 100 })
    await fixture.create({ numWorkers: 3 })
    await fixture.runs(3)
    await fixture.reaches('Running')
    await fixture.passesThrice()
    await fixture.audit.take()
    await fixture.passesThrice()
    assert.deepEqual(await fixture.audit.take(), [])
    await fixture.restart()
    await fixture.passesThrice()
    assert.deepEqual(await fixture.audit.take(), [])
    fixture.kubelet.decide(succeedTogether(3))
    await fixture.reaches('Completed')
    await fixture.passesThrice()
    await fixture.audit.take()
    await fixture.restart()
    await fixture.passesThrice()
    assert.deepEqual(await fixture.audit.take(), [])
  })

  const bucket = { storage: { type: 's3', path: 's3://bucket/run' } }
  const costs: readonly [string, SpecInput, readonly string[]][] = [
    ['plus two', { checkpoint: bucket }, []],
    [
      'plus two, a claim and a ConfigMap',
      { hyperparameters: { learningRate: 1 } },
      ['configmaps', 'persistentvolumeclaims'],
    ],
  ]
  for (const [more, spec, others] of costs) {
    test(`writes once per pod until all workers exist, ${more}`, async (t) => {
      const { create, reaches, audit } = await setUp(t)
      await create({ numWorkers: 4, ...spec })
      await reaches('Running')
      const writes = await audit.take()
      const last = writes.findLastIndex((line) => line.startsWith('apply pods/'))
      const kinds = writes.slice(0, last + 1).map((line) => line.split(/[ /]/)[1] ?? '')
      assert.deepEqual(kinds.toSorted(), [...others, ...Array<string>(4).fill('pods'), 'services', 'trainingjobs'])
    })
  }
})

describe('a TrainingJob with another engine or framework', () => {
  test('engine job: one Indexed Job, restarted as a whole', async (t) => {
    const decide = endOne({ exitCode: 1 }, { rank: 0, attempt: 1, size: 2 })
    const { create, reaches, ns, pods } = await setUp(t, decide)
    await create({ engine: 'job' })
    const { status } = await reaches('Completed')
    assert.equal(status?.failures, 1)
    assert.equal(status?.attempts, 2)
    const { spec } = await client.get(Job, { namespace: ns, name: 'bert-job' })
    assert.equal(spec?.completionMode, 'Indexed')
    assert.deepEqual((await pods()).map(attemptOf), [2, 2])
  })

  test('mpi: creates SSH keys once, and the launcher after its workers', async (t) => {
    const { create, reaches, ns, kubelet, pods } = await setUp(t)
    const { metadata } = await create({ framework: 'mpi' })
    const keys = { namespace: ns, name: `bert-ssh-${metadata.uid?.slice(0, 8)}` }
    await until('the launcher', async () => (await pods()).some((pod) => pod.metadata.name === 'bert-launcher-0'))
    const { data } = await client.get(Secret, keys)
    const text = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString()
    assert.match(text('ssh-privatekey'), /BEGIN EC PRIVATE KEY/)
    assert.match(text('ssh-publickey'), /^ecdsa-sha2-nistp521 /)
    kubelet.decide((pod) => (pod.metadata.name === 'bert-launcher-0' ? { exitCode: 0 } : undefined))
    await reaches('Completed')
    const later = await client.get(Secret, keys)
    assert.deepEqual(later.data, data)
  })
})

describe('a TrainingJob', () => {
  test('fails at its deadline', async (t) => {
    const { create, reaches, condition, pods } = await setUp(t)
    await create({ activeDeadlineSeconds: 1 })
    await reaches('Failed')
    assert.equal((await condition('Failed'))?.reason, 'DeadlineExceeded')
    await until('the workers to be stopped', async () => (await pods()).length === 0)
  })

  test('is deleted after ttlSecondsAfterFinished', async (t) => {
    const { create, disappears } = await setUp(t, succeedTogether(2))
    await create({ ttlSecondsAfterFinished: 0 })
    await disappears(trainingJobs, NAME)
  })

  test('replaces pods that are stuck on a dead node', async (t) => {
    const deadNode = await fakeNode(client)
    t.after(() => deadNode.remove())
    const { create, runs, kubelet, ns, pods, reaches } = await setUp(t, () => undefined, {
      node: deadNode.name,
      config: { deadNodeMs: 0 },
    })
    await create({ numWorkers: 1 })
    await runs(1)
    kubelet.holdTerminating()
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const ready = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime }
    await client.patch(Node, { name: deadNode.name }, { status: { conditions: [ready] } }, { subresource: 'status' })
    await client.delete(Pod, { namespace: ns, name: 'bert-workers-0' }, { gracePeriodSeconds: 1 })
    await until('the next attempt', async () => (await pods()).some((pod) => attemptOf(pod) === 2))
    kubelet.releaseTerminating()
    kubelet.decide(succeedTogether(1))
    await deadNode.reportReady()
    const { status } = await reaches('Completed')
    assert.equal(status?.failures ?? 0, 0)
  })
})
