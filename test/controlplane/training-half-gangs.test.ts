/** Gangs that get only some of their nodes, placed by the real scheduler. The test plays the kubelets. On a cluster of its own. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { apiVersionOf, keyOf } from '../../src/kube/object.ts'
import { Node, Pod } from '../../src/kube/resources.ts'
import { NativePodGroup } from '../../src/plan/training/gangs/native.ts'
import { trainingJob } from '../builders/training-job.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { type FakeNode, fakeNode } from '../fakes/kubelet.ts'
import { ownNamespace } from '../fixtures/serving.ts'
import { ignoreMissing } from '../fixtures/training.ts'
import { startOperator } from '../operator/operator.ts'
import { until } from '../timing/until.ts'

const { cluster, client } = await ownCluster({
  featureGates: ['GenericWorkload', 'GangScheduling'],
  apis: [apiVersionOf(NativePodGroup)],
})

const JOBS = ['one', 'two'] as const
/** Only the jobs of these names tolerate the taint. */
const OWNER = 'test.example.com/for'

/** A place for one worker. */
async function place(t: TestContext, owner: string): Promise<FakeNode> {
  const resources = { cpu: '1', memory: '4Gi', pods: '10' }
  const node = await fakeNode(client, { taint: { key: `${OWNER}-${owner}`, effect: 'NoSchedule' }, resources })
  t.after(() => node.remove())
  return node
}

const open = (node: FakeNode): Promise<Node> => client.patch(Node, { name: node.name }, { spec: { taints: null } })

interface Bench {
  readonly ns: string
  create(name: string, scheduling: object): Promise<TrainingJob>
  job(name: string): Promise<TrainingJob>
  pods(name?: string): Promise<readonly Pod[]>
  /** Removes terminating pods; gangs whose pods all have a node succeed. */
  play(): Promise<void>
}

async function setUp(t: TestContext, name: string): Promise<Bench> {
  const ns = await ownNamespace(t, client, name)
  const config = { backoffMs: 2000 }
  const operator = startOperator({ cluster, namespace: ns, discoveryMs: 200, resyncMs: 500, config })
  t.after(async () => {
    await operator.stop()
    for (const job of JOBS)
      await client
        .patch(trainingJobs, { namespace: ns, name: job }, { metadata: { finalizers: null } })
        .catch(ignoreMissing)
  })
  const resources = { requests: { cpu: '800m', memory: '1Gi' } }
  const pods = async (job?: string): Promise<readonly Pod[]> => {
    const labelSelector = job === undefined ? 'component=worker' : `component=worker,trainingjob=${job}`
    return (await client.list(Pod, { namespace: ns, labelSelector })).items
  }
  return {
    ns,
    create: (job, scheduling) => {
      const tolerations = [{ key: `${OWNER}-${job}`, operator: 'Exists' as const }]
      const spec = {
        numWorkers: 2,
        resources,
        checkpoint: { enabled: false },
        scheduling: { tolerations, ...scheduling },
      }
      return client.create(trainingJobs, trainingJob(ns, job, spec))
    },
    job: (job) => client.get(trainingJobs, { namespace: ns, name: job }),
    pods,
    play: async () => {
      for (const job of JOBS) await playKubelets(await pods(job))
    },
  }
}

const isBound = ({ spec }: Pod): boolean => spec?.nodeName !== undefined
const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

async function playKubelets(pods: readonly Pod[]): Promise<void> {
  for (const pod of pods.filter(isTerminating))
    await client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0 }).catch(ignoreMissing)
  const isWhole = pods.length === 2 && pods.every((pod) => isBound(pod) && !isTerminating(pod))
  if (!isWhole) return
  for (const pod of pods)
    await client.patch(Pod, keyOf(pod), { status: { phase: 'Succeeded' } }, { subresource: 'status' })
}

const boundTo = async (bench: Bench, job: string): Promise<number> => (await bench.pods(job)).filter(isBound).length

/** Each of the two jobs holds one of two places, and needs both. */
async function halfPlaced(t: TestContext, name: string, gangTimeoutSeconds: number): Promise<Bench> {
  const bench = await setUp(t, name)
  const nodes = await Promise.all(JOBS.map((job) => place(t, job)))
  for (const job of JOBS) await bench.create(job, { gang: 'none', gangTimeoutSeconds })
  for (const job of JOBS) {
    await until(`a place for ${job}`, async () => (await boundTo(bench, job)) === 1)
    await until(`${job} to be partial`, async () => (await bench.job(job)).status?.scheduling?.partialSince)
  }
  await Promise.all(nodes.map(open))
  return bench
}

describe('two gangs, each with half of the nodes', () => {
  test('both complete: one gives its nodes back, without a charge', async (t) => {
    const bench = await halfPlaced(t, 'release', 3)
    await until('both jobs to complete', async () => {
      await bench.play()
      const jobs = await Promise.all(JOBS.map((job) => bench.job(job)))
      return jobs.every(({ status }) => status?.state === 'Completed')
    })
    const jobs = await Promise.all(JOBS.map((job) => bench.job(job)))
    assert.deepEqual(
      jobs.map(({ status }) => [status?.failures, status?.restarts]),
      [
        [0, 0],
        [0, 0],
      ],
    )
    assert.ok(
      jobs.some(({ status }) => (status?.attempts ?? 0) > 1),
      'one of them has started again',
    )
  })

  test('without the timeout, both wait', async (t) => {
    const bench = await halfPlaced(t, 'deadlock', 0)
    await until('both to be unschedulable on open nodes', async () => {
      await bench.play()
      const waiting = (await bench.pods()).filter((pod) => !isBound(pod))
      const messages = waiting.map(
        ({ status }) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
      )
      return waiting.length === 2 && messages.every((message) => message?.includes('2 Insufficient cpu'))
    })
    for (const job of JOBS) assert.equal(await boundTo(bench, job), 1)
  })
})

test('native: the scheduler of Kubernetes places no pod until the whole gang fits', async (t) => {
  const bench = await setUp(t, 'native')
  await place(t, 'one')
  await bench.create('one', { gang: 'native' })
  await until('both pods to wait', async () => {
    const pods = await bench.pods('one')
    const reasons = pods.map(({ status }) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason)
    return pods.length === 2 && reasons.every((reason) => reason === 'Unschedulable')
  })
  assert.equal(await boundTo(bench, 'one'), 0)
  await place(t, 'one')
  await until('the job to complete', async () => {
    await bench.play()
    return (await bench.job('one')).status?.state === 'Completed'
  })
})
