/** The life of a TrainingJob on a real API server, with workers that a fake kubelet starts and ends. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Event, Job, Node, PersistentVolumeClaim, Pod, Secret, Service } from '../../src/kube/resources.ts'
import { FINALIZER } from '../../src/plan/training/names.ts'
import { apiCluster } from '../api-cluster.ts'
import { Audit } from '../audit.ts'
import { namespace } from '../cluster.ts'
import { type Decide, fakeNode, Kubelet } from '../kubelet.ts'
import { type OperatorOptions, startOperator } from '../operator.ts'
import { attemptOf, envOf, oneMeets, type SpecInput, succeedTogether, trainingJob } from '../training-job.ts'
import { until } from '../until.ts'

const { cluster, client, node } = await apiCluster()

const NAME = 'bert'

type Setup = Pick<OperatorOptions, 'config' | 'resyncMs'> & { readonly node?: string }

/** A namespace with an operator and a kubelet of its own, and a user who asks for one job. */
async function stage(t: TestContext, decide: Decide = () => undefined, { node: place, ...options }: Setup = {}) {
  const ns = await namespace(t)
  const key = { namespace: ns, name: NAME }
  const audit = new Audit()
  const start = () => startOperator({ cluster, namespace: ns, interceptors: [audit.interceptor], ...options })
  let operator = start()
  const kubelet = new Kubelet({ client, namespace: ns, node: place ?? node.name, decide })
  t.after(async () => {
    await Promise.all([operator.stop(), kubelet.stop()])
    // Nobody serves it any more, so its finalizer would keep the namespace for ever.
    await client.patch(trainingJobs, key, { metadata: { finalizers: null } }).catch(ignoreMissing)
  })
  const job = () => client.get(trainingJobs, key)
  const pods = async () => (await client.list(Pod, { namespace: ns })).items
  const events = async () => (await client.list(Event, { namespace: ns })).items
  return {
    ns,
    key,
    audit,
    kubelet,
    job,
    pods,
    events,
    operator: () => operator,
    restart: async () => {
      await operator.stop()
      operator = start()
    },
    create: (spec: SpecInput = {}) => client.create(trainingJobs, trainingJob(ns, NAME, spec)),
    change: (spec: SpecInput) => client.patch(trainingJobs, key, { spec }),
    reaches: (state: string): Promise<TrainingJob> =>
      until(`the job to be ${state}`, async () => {
        const found = await job()
        const isCurrent = found.status?.observedGeneration === found.metadata.generation
        return isCurrent && found.status?.state === state ? found : undefined
      }),
    runs: (size: number) =>
      until(`${size} workers to run`, async () => {
        const all = await pods()
        return all.length === size && all.every(({ status }) => status?.phase === 'Running') ? all : undefined
      }),
    isGone: (resource: Resource, name: string) =>
      until(`${resource.kind}/${name} to be gone`, () =>
        client.get(resource, { namespace: ns, name }).then(() => false, isNotFound),
      ),
    says: (reason: string) =>
      until(`an event ${reason}`, async () => (await events()).find((event) => event.reason === reason)),
    condition: async (type: string) => (await job()).status?.conditions?.find((known) => known.type === type),
  }
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}

/** Three passes over everything. */
async function rests({ operator }: { operator: () => { passes(): Promise<number> } }): Promise<void> {
  const since = await operator().passes()
  await until('three more passes', async () => (await operator().passes()) >= since + 3)
}

describe('a TrainingJob', () => {
  test('has workers that can find each other', async (t) => {
    const { create, runs, reaches, ns } = await stage(t)
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

  test('completes when all workers have, and says so', async (t) => {
    const { create, reaches, pods, says, condition } = await stage(t, succeedTogether(3))
    await create({ numWorkers: 3 })
    const { status, metadata } = await reaches('Completed')
    assert.deepEqual(metadata.finalizers, [FINALIZER])
    assert.equal(status?.workers?.succeeded, 3)
    assert.equal(status?.attempts, 1)
    assert.ok(status?.startTime && status.completionTime)
    assert.equal((await condition('Complete'))?.status, 'True')
    assert.equal((await pods()).length, 3)
    await says('WorkersCreated')
    await says('TrainingCompleted')
  })

  test('a failed worker restarts the gang once', async (t) => {
    const fate = oneMeets({ exitCode: 137, reason: 'OOMKilled' }, { rank: 1, attempt: 1, size: 2 })
    const { create, reaches, pods, says } = await stage(t, fate)
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
    await says('WorkerFailed')
  })

  test('a disruption costs no retry', async (t) => {
    const fate = oneMeets({ disruption: 'PreemptionByScheduler' }, { rank: 0, attempt: 1, size: 2 })
    const { create, reaches } = await stage(t, fate)
    await create({ backoffLimit: 0 })
    const { status } = await reaches('Completed')
    assert.equal(status?.attempts, 2)
    assert.equal(status?.failures ?? 0, 0)
    assert.equal(status?.lastFailure?.counted, false)
  })

  test('the limit is the limit', async (t) => {
    const always: Decide = (pod, pods) =>
      oneMeets({ exitCode: 1 }, { rank: 0, attempt: attemptOf(pod), size: 2 })(pod, pods)
    const { create, reaches, condition } = await stage(t, always)
    await create({ backoffLimit: 2 })
    const { status } = await reaches('Failed')
    assert.equal(status?.attempts, 3)
    assert.equal((await condition('Failed'))?.reason, 'BackoffLimitReached')
  })

  test('suspended it holds nothing, resumed it finishes', async (t) => {
    const { create, change, runs, reaches, pods, kubelet } = await stage(t)
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

  test('a job that is created suspended makes no pods', async (t) => {
    const { create, reaches, pods } = await stage(t)
    await create({ suspend: true })
    await reaches('Suspended')
    assert.deepEqual(await pods(), [])
  })

  test('deleted it takes its workers along and leaves its checkpoints', async (t) => {
    const { create, runs, key, ns, isGone, pods } = await stage(t)
    await create()
    await runs(2)
    await client.delete(trainingJobs, key)
    await isGone(trainingJobs, NAME)
    assert.deepEqual(await pods(), [])
    await isGone(Service, 'bert-workers')
    const claim = await client.get(PersistentVolumeClaim, { namespace: ns, name: 'bert-checkpoints' })
    assert.equal(claim.metadata.deletionTimestamp, undefined)
    assert.equal(claim.metadata.ownerReferences, undefined)
  })

  test('its checkpoints go with it if the spec says so', async (t) => {
    const { create, runs, key, isGone } = await stage(t)
    await create({ checkpoint: { deleteOnCompletion: true } })
    await runs(2)
    await client.delete(trainingJobs, key)
    await isGone(trainingJobs, NAME)
    await isGone(PersistentVolumeClaim, 'bert-checkpoints')
  })

  test('what belongs to others is left alone and named', async (t) => {
    const { create, ns, condition, audit, says } = await stage(t)
    const theirs: Service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: ns, name: 'bert-workers' },
      spec: { ports: [{ port: 80 }] },
    }
    const before = await client.create(Service, theirs)
    await create()
    const conflict = await until('the condition Conflict', () => condition('Conflict'))
    assert.equal(conflict.status, 'True')
    assert.match(conflict.message, /Service\/bert-workers/)
    const later: KubeObject = await client.get(Service, { namespace: ns, name: 'bert-workers' })
    assert.equal(later.metadata.resourceVersion, before.metadata.resourceVersion)
    assert.ok(audit.writes.every(({ verb, what }) => verb !== 'delete' || !what.startsWith('services')))
    await says('Conflict')
  })

  test('at rest and after a restart of the operator nothing is written', async (t) => {
    const life = await stage(t, () => undefined, { resyncMs: 100 })
    await life.create({ numWorkers: 3 })
    await life.runs(3)
    await life.reaches('Running')
    await rests(life)
    await life.audit.take()
    await rests(life)
    assert.deepEqual(await life.audit.take(), [])
    await life.restart()
    await rests(life)
    assert.deepEqual(await life.audit.take(), [])
    life.kubelet.decide(succeedTogether(3))
    await life.reaches('Completed')
    await rests(life)
    await life.audit.take()
    await life.restart()
    await rests(life)
    assert.deepEqual(await life.audit.take(), [])
  })

  const bucket = { storage: { type: 's3', path: 's3://bucket/run' } }
  const costs: readonly [string, SpecInput, readonly string[]][] = [
    ['and two', { checkpoint: bucket }, []],
    [
      'two, a claim and a ConfigMap',
      { hyperparameters: { learningRate: 1 } },
      ['configmaps', 'persistentvolumeclaims'],
    ],
  ]
  for (const [more, spec, others] of costs) {
    test(`until all workers exist it costs as many writes as there are pods, ${more}`, async (t) => {
      const { create, reaches, audit } = await stage(t)
      await create({ numWorkers: 4, ...spec })
      await reaches('Running')
      const writes = await audit.take()
      const last = writes.findLastIndex((line) => line.startsWith('apply pods/'))
      const kinds = writes.slice(0, last + 1).map((line) => line.split(/[ /]/)[1] ?? '')
      assert.deepEqual(kinds.toSorted(), [...others, ...Array<string>(4).fill('pods'), 'services', 'trainingjobs'])
    })
  }
})

describe('what else a job may be', () => {
  test('engine job: one Indexed Job, restarted as a whole', async (t) => {
    const fate = oneMeets({ exitCode: 1 }, { rank: 0, attempt: 1, size: 2 })
    const { create, reaches, ns, pods } = await stage(t, fate)
    await create({ engine: 'job' })
    const { status } = await reaches('Completed')
    assert.equal(status?.failures, 1)
    assert.equal(status?.attempts, 2)
    const { spec } = await client.get(Job, { namespace: ns, name: 'bert-job' })
    assert.equal(spec?.completionMode, 'Indexed')
    assert.deepEqual((await pods()).map(attemptOf), [2, 2])
  })

  test('mpi: keys that nobody reads back, and a launcher that waits for its workers', async (t) => {
    const { create, reaches, ns, kubelet, pods } = await stage(t)
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

describe('why it does not start', () => {
  test('an image that cannot be pulled', async (t) => {
    const { create, job } = await stage(t, () => 'image-missing')
    await create()
    await until('the reason', async () => (await job()).status?.reason?.startsWith('ImagePullFailed'))
  })

  test('too few GPUs, with numbers', async (t) => {
    const gpuNode = await fakeNode(client)
    t.after(() => gpuNode.remove())
    const taints = [{ key: 'test.example.com/nobody', effect: 'NoSchedule' }]
    await client.patch(Node, { name: gpuNode.name }, { spec: { unschedulable: null, taints } })
    const allocatable = { 'nvidia.com/gpu': '4' }
    const status = { capacity: allocatable, allocatable }
    await client.patch(Node, { name: gpuNode.name }, { status }, { subresource: 'status' })
    const { create, runs, kubelet, ns } = await stage(t, () => undefined, { node: gpuNode.name })
    await create({ numWorkers: 1, gpusPerWorker: 3 })
    await runs(1)
    await kubelet.stop()
    const scheduling = { schedulerName: 'nobody' }
    await client.create(trainingJobs, trainingJob(ns, 'large', { numWorkers: 1, gpusPerWorker: 8, scheduling }))
    const large = { namespace: ns, name: 'large' }
    t.after(() => client.patch(trainingJobs, large, { metadata: { finalizers: null } }).catch(ignoreMissing))
    const message = '0/9 nodes are available: 9 Insufficient nvidia.com/gpu.'
    const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
    const pod = { namespace: ns, name: 'large-workers-0' }
    await until('the scheduler to say so', () =>
      client.patch(Pod, pod, { status: { conditions: [unscheduled] } }, { subresource: 'status' }),
    )
    const expected =
      /^InsufficientGPU: 1 of 1 workers .* 8 nvidia.com\/gpu each; .* has 4, at most 1 .* 1 of 4 on all 1: 0\/9/
    await until('the reason', async () => expected.test((await client.get(trainingJobs, large)).status?.reason ?? ''))
  })

  test('a quota that is used up', async (t) => {
    const { create, job, ns, says, kubelet, reaches } = await stage(t)
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { namespace: ns, name: 'small' },
      spec: { hard: { pods: '1' } },
    }
    const quotas: Resource = {
      group: '',
      version: 'v1',
      kind: 'ResourceQuota',
      plural: 'resourcequotas',
      namespaced: true,
    }
    await client.create(quotas, quota)
    await until('the quota to be counted', async () => {
      const { status }: KubeObject & { status?: { used?: object } } = await client.get(quotas, {
        namespace: ns,
        name: 'small',
      })
      return status?.used !== undefined
    })
    await create()
    await until('the reason', async () => (await job()).status?.reason?.startsWith('QuotaExceeded'))
    await says('ReconcileFailed')
    kubelet.decide(succeedTogether(2))
    await client.delete(quotas, { namespace: ns, name: 'small' })
    await reaches('Completed')
  })
})

describe('an end that was not planned', () => {
  test('a deadline', async (t) => {
    const { create, reaches, condition, pods } = await stage(t)
    await create({ activeDeadlineSeconds: 1 })
    await reaches('Failed')
    assert.equal((await condition('Failed'))?.reason, 'DeadlineExceeded')
    await until('the workers to be stopped', async () => (await pods()).length === 0)
  })

  test('a finished job goes when its time is up', async (t) => {
    const { create, isGone } = await stage(t, succeedTogether(2))
    await create({ ttlSecondsAfterFinished: 0 })
    await isGone(trainingJobs, NAME)
  })

  test('a node that died does not keep its pods for ever', async (t) => {
    const dying = await fakeNode(client)
    t.after(() => dying.remove())
    const { create, runs, kubelet, ns, pods, reaches } = await stage(t, () => undefined, {
      node: dying.name,
      config: { deadNodeMs: 0 },
    })
    await create({ numWorkers: 1 })
    await runs(1)
    kubelet.hold()
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const ready = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime }
    await client.patch(Node, { name: dying.name }, { status: { conditions: [ready] } }, { subresource: 'status' })
    await client.delete(Pod, { namespace: ns, name: 'bert-workers-0' }, { gracePeriodSeconds: 1 })
    await until('the next attempt', async () => (await pods()).some((pod) => attemptOf(pod) === 2))
    kubelet.letGo()
    kubelet.decide(succeedTogether(1))
    await dying.revive()
    const { status } = await reaches('Completed')
    assert.equal(status?.failures ?? 0, 0)
  })
})
