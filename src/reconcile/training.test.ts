/** The writes of the training controller and their order, with caches that a test feeds and a client that records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../test/sim/training-cluster.ts'
import { podOf, started } from '../../test/sim/training-moves.ts'
import { trainingJobs } from '../api/kinds.ts'
import type { Client } from '../kube/client.ts'
import { ConnectionError } from '../kube/errors.ts'
import { keyOf, type KubeObject, type Resource } from '../kube/object.ts'
import { Node, Pod } from '../kube/resources.ts'
import { type Cache, Caches, createLogger, type Manager, type Reconciler, RuntimeMetrics } from '../runtime/index.ts'
import type { DecisionFields } from '../runtime/decision-line.ts'
import { FakeClock } from '../runtime/fake-clock.ts'
import type { Note } from '../runtime/log.ts'
import { gangKinds } from '../plan/training/index.ts'
import { addTrainingController } from './training.ts'

const log = createLogger({ level: 'silent' })

/** The reconcile function of the controller, and its caches. */
function controller() {
  const metrics = new RuntimeMetrics()
  const caches = new Caches({ client: {} as Client, log, metrics })
  let reconciler: Reconciler | undefined
  const builder = {
    for: () => builder,
    watches: () => builder,
    owns: () => builder,
    signals: () => builder,
    reconcile: (given: Reconciler) => (reconciler = given),
  }
  const recorder = { record: () => undefined }
  const manager = { caches, metrics, recorder, clock: new FakeClock(), controller: () => builder }
  addTrainingController(manager as unknown as Manager, { readLog: async () => undefined })
  assert.ok(reconciler)
  for (const { resource } of gangKinds) caches.of(resource).empty()
  return { caches, reconciler }
}

/** A client of a server with this job. It records writes, and fails those that `isLost` names. */
function recordingClient({ job, pods }: TrainingCluster, isLost: (write: string) => boolean) {
  const writes: string[] = []
  const write = (verb: string, { kind }: Resource, name: string, what = ''): void => {
    writes.push(`${verb} ${kind}/${name}${what}`)
    if (isLost(writes.at(-1) ?? '')) throw new ConnectionError({ verb, path: '/' }, 'reset')
  }
  const client = {
    get: async () => job,
    list: async () => ({ items: pods }),
    create: async (resource: Resource, object: KubeObject) => {
      write('create', resource, object.metadata.name)
      return object
    },
    apply: async (resource: Resource, object: KubeObject) => {
      write('apply', resource, object.metadata.name)
      return object
    },
    patch: async (resource: Resource, { name }: { name: string }, body: Partial<KubeObject>, { subresource = '' }) => {
      const [field = ''] = Object.keys(body.metadata ?? {}).filter((key) => key === 'finalizers')
      write('patch', resource, name, ` ${subresource}${field}`)
      return job
    },
    delete: async (resource: Resource, { name }: { name: string }) => write('delete', resource, name),
  }
  return { writes, client: client as unknown as Client }
}

async function feed<T extends KubeObject>(cache: Cache<T>, items: readonly T[]): Promise<void> {
  await cache.follow(async function* () {
    yield { type: 'replace', items, resourceVersion: '1' } as const
  })
}

function readyNode(name: string): Node {
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name }, status }
}

interface PassOptions {
  readonly isLost?: (write: string) => boolean
  readonly note?: Note
}

/** One pass over the job as the cluster has it. Returns the writes. */
async function pass(
  cluster: TrainingCluster,
  { isLost = () => false, note = () => undefined }: PassOptions = {},
): Promise<string[]> {
  const { caches, reconciler } = controller()
  const { client, writes } = recordingClient(cluster, isLost)
  await feed(caches.of(trainingJobs), [cluster.job])
  await feed(caches.of(Pod), cluster.pods)
  await feed(
    caches.of(Node),
    cluster.nodes.map(({ name }) => readyNode(name)),
  )
  const context = { client, log, note, reconcileId: '1', signal: new AbortController().signal }
  await reconciler(keyOf(cluster.job), context).catch((error: unknown) => {
    if (!(error instanceof ConnectionError)) throw error
  })
  return writes
}

test('the finalizer of a deleted job is removed in the pass after its last pod has gone, and not before', async () => {
  const cluster = started({ numWorkers: 2 })
  const { metadata } = cluster.job
  cluster.job = { ...cluster.job, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.deepEqual(await pass(cluster), ['delete Pod/bert-workers-0', 'delete Pod/bert-workers-1'])
  for (const pod of cluster.pods) cluster.delete(pod)
  assert.deepEqual(
    await pass(cluster),
    ['patch TrainingJob/bert status'],
    'the pods are still terminating, which it says once',
  )
  cluster.letGo()
  assert.deepEqual(await pass(cluster), ['patch TrainingJob/bert finalizers'])
})

test('the status is written after the children that it describes, and not if one of them is missing', async () => {
  const cluster = new TrainingCluster({ numWorkers: 2, checkpoint: { enabled: false } })
  cluster.settle()
  for (const pod of cluster.pods) cluster.vanish(pod)
  const { status: _, ...accepted } = cluster.job
  cluster.job = accepted
  const children = ['apply Service/bert-workers', 'apply Pod/bert-workers-0', 'apply Pod/bert-workers-1']
  assert.deepEqual(await pass(cluster), [...children, 'patch TrainingJob/bert status'])
  assert.deepEqual(await pass(cluster, { isLost: (write) => write === children[2] }), children)
})

test('a restart is logged once, with the change of the state and the reasons; a pass without a decision is not', async () => {
  const cluster = started({ numWorkers: 2, env: [{ name: 'TOKEN', value: 's3cret' }] })
  const lines: unknown[] = []
  const note: Note = (level, fields) => void lines.push({ level, ...fields })
  await pass(cluster, { note })
  assert.deepEqual(lines, [], 'the job runs and nothing has changed')
  cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' })
  await pass(cluster, { note })
  const [line, ...others] = lines as DecisionFields[]
  assert.deepEqual(others, [])
  assert.deepEqual(line?.changed, {
    state: ['Running', 'Restarting'],
    restarts: [0, 1],
    failures: [0, 1],
    attempts: [1, 2],
  })
  assert.deepEqual(line?.reasons, ['WorkerFailed'])
  assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
})
