/**
 * Gangs that the real schedulers of Volcano and scheduler-plugins place. The test plays the kubelets. On a cluster of its own, in
 * which both run next to the scheduler of Kubernetes.
 */
import assert from 'node:assert/strict'
import { before, describe, test, type TestContext } from 'node:test'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import type { Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition, Pod } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import type { GangScheduler } from '../../src/plan/training/gangs/contract.ts'
import { coscheduling, CoschedulingPodGroup } from '../../src/plan/training/gangs/coscheduling.ts'
import { gangKindName } from '../../src/plan/training/gangs/registry.ts'
import { volcano, VolcanoPodGroup } from '../../src/plan/training/gangs/volcano.ts'
import type { ControlPlane } from '../../testenv/control-plane.ts'
import { startSchedulerPlugins } from '../../testenv/scheduler-plugins.ts'
import { type GangSchedulerProcesses, startVolcano } from '../../testenv/volcano.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import type { FakeNode } from '../fakes/kubelet.ts'
import { endPod, isBound, open, place, refusalOf, type SharedNodes, sharedNodes } from '../fixtures/shared-nodes.ts'
import { until } from '../timing/until.ts'

const { plane, cluster, client } = await ownCluster()

interface Product {
  readonly gang: GangScheduler & { readonly schedulerName: string }
  readonly resource: Resource
  readonly start: (plane: ControlPlane) => Promise<GangSchedulerProcesses>
}

const products: readonly Product[] = [
  { gang: volcano, resource: VolcanoPodGroup, start: startVolcano },
  { gang: coscheduling, resource: CoschedulingPodGroup, start: startSchedulerPlugins },
]

const JOBS = ['one', 'two'] as const
const MINUTE = 60_000
/** Longer than the operator waits before it reports a scheduler that does not respond. */
const SILENCE_MS = 3 * MINUTE

/** The jobs of the pods, in the order in which a scheduler binds them. */
function followBindings(t: TestContext, namespace: string): readonly string[] {
  const order = new Map<string, string>()
  const jobs: string[] = []
  const stop = new AbortController()
  t.after(() => stop.abort())
  const note = (pod: Pod): void => {
    const { uid = '', labels } = pod.metadata
    if (!isBound(pod) || order.has(uid)) return
    order.set(uid, pod.metadata.name)
    jobs.push(labels?.['trainingjob'] ?? '')
  }
  void (async () => {
    for await (const update of watch(client, Pod, { namespace, signal: stop.signal }))
      if (update.type === 'apply') note(update.object)
  })().catch(() => undefined)
  return jobs
}

/** Two jobs of two workers, and two nodes for one worker each, of which each job may use one until they are opened. */
async function twoJobs(t: TestContext, name: string, scheduling: object): Promise<[SharedNodes, readonly FakeNode[]]> {
  const bench = await sharedNodes(t, { cluster, client }, name)
  const nodes = await Promise.all(JOBS.map((job) => place(t, client, job)))
  for (const job of JOBS) await bench.create(job, scheduling)
  return [bench, nodes]
}

const openAll = (nodes: readonly FakeNode[]): Promise<unknown> => Promise.all(nodes.map((node) => open(client, node)))

const openPlaces = async (t: TestContext, count: number): Promise<void> =>
  void (await openAll(await Promise.all(Array.from({ length: count }, () => place(t, client, 'all')))))

/** The scheduler has considered all pods of the jobs, and says why they have no node. */
const refused = (bench: SharedNodes, count: number): Promise<readonly Pod[]> =>
  until(`${count} pods to be refused`, async () => {
    const waiting = (await bench.pods()).filter((pod) => !isBound(pod))
    return waiting.length === count && waiting.every(refusalOf) ? waiting : undefined
  })

/** The job whose gang is placed whole. */
const firstPlaced = (bench: SharedNodes): Promise<string> =>
  until('a whole gang to be placed', async () => {
    for (const job of JOBS) if ((await bench.bound(job)) === 2) return job
    return undefined
  })

const otherThan = (job: string): string => (job === 'one' ? 'two' : 'one')

const chargesOf = ({ status }: TrainingJob) => [status?.attempts, status?.failures, status?.restarts]

const says = (bench: SharedNodes, job: string, reason: RegExp, timeoutMs = MINUTE): Promise<TrainingJob> =>
  until(
    `${job} to say ${reason.source}`,
    async () => {
      const found = await bench.job(job)
      return reason.test(found.status?.reason ?? '') ? found : undefined
    },
    timeoutMs,
  )

for (const { gang, resource, start } of products)
  describe(`the real scheduler of ${gang.name}`, () => {
    let processes: GangSchedulerProcesses
    before(async () => {
      processes = await start(plane)
    })

    test('two gangs that only fit one at a time: each is placed whole or not at all, and both complete', async (t) => {
      const [bench, nodes] = await twoJobs(t, `${gang.name}-turns`, { gang: gang.name })
      const bindings = followBindings(t, bench.ns)
      await refused(bench, 4)
      assert.deepEqual(bindings, [], 'each of them could hold half of the nodes')
      await openAll(nodes)
      const first = await firstPlaced(bench)
      const other = otherThan(first)
      assert.equal(await bench.bound(other), 0)
      const jobs = await bench.complete()
      assert.deepEqual(bindings, [first, first, other, other])
      assert.deepEqual(jobs.map(chargesOf), [
        [1, 0, 0],
        [1, 0, 0],
      ])
      assert.ok(jobs.every(({ status }) => status?.scheduling?.gang === gang.name))
    })

    test('the control: without a gang, each of them holds half of the nodes and waits for the other', async (t) => {
      const scheduling = { gang: 'none', schedulerName: gang.schedulerName, gangTimeoutSeconds: 0 }
      const [bench, nodes] = await twoJobs(t, `${gang.name}-control`, scheduling)
      await until('a node for each', async () => (await bench.bound('one')) === 1 && (await bench.bound('two')) === 1)
      await openAll(nodes)
      await place(t, client, 'later')
      await bench.create('later', scheduling, { numWorkers: 1 })
      await until('the scheduler to place a later pod', async () => (await bench.bound('later')) === 1)
      for (const pod of await refused(bench, 2))
        assert.match(refusalOf(pod)?.message ?? '', /[23] Insufficient cpu|1 Unschedulable/)
      for (const job of JOBS) assert.equal(await bench.bound(job), 1)
    })

    test('many gangs of different sizes on few nodes: all complete in their first attempt', async (t) => {
      const bench = await sharedNodes(t, { cluster, client }, `${gang.name}-many`)
      const sizes = [2, 4, 3, 2, 4, 3, 2, 4]
      for (const [index, numWorkers] of sizes.entries())
        await bench.create(`job-${index}`, { gang: gang.name }, { numWorkers })
      await openPlaces(t, 4)
      const jobs = await bench.complete(5 * MINUTE)
      assert.ok(jobs.every((job) => chargesOf(job).join() === '1,0,0'))
    })

    test('a gang that restarts is placed again, with the same PodGroup', async (t) => {
      const bench = await sharedNodes(t, { cluster, client }, `${gang.name}-restart`)
      await bench.create('one', { gang: gang.name })
      await openPlaces(t, 2)
      await firstPlaced(bench)
      const key = { namespace: bench.ns, name: 'one' }
      const { uid } = (await client.get(resource, key)).metadata
      const [pod] = await bench.pods('one')
      await endPod(client, pod ?? assert.fail('no pod'), 'Failed')
      await until('the second attempt', async () => (await bench.job('one')).status?.attempts === 2)
      assert.equal((await client.get(resource, key)).metadata.uid, uid)
      const [job] = await bench.complete()
      assert.deepEqual(job && chargesOf(job).slice(0, 2), [2, 1])
    })

    test('an elastic gang starts with its minimum', async (t) => {
      const bench = await sharedNodes(t, { cluster, client }, `${gang.name}-elastic`)
      const elastic = { minWorkers: 2, maxWorkers: 4 }
      await bench.create('one', { gang: gang.name }, { numWorkers: 4, elastic, command: ['torchrun', 'train.py'] })
      await openPlaces(t, 2)
      await firstPlaced(bench)
      await refused(bench, 2)
      await openPlaces(t, 2)
      await bench.complete()
    })

    test('a scheduler that does not run is reported, and places the gang when it runs again', async (t) => {
      const bench = await sharedNodes(t, { cluster, client }, `${gang.name}-stopped`)
      await openPlaces(t, 2)
      await processes.scheduler.stop()
      t.after(async () => processes.scheduler.start().catch(() => undefined))
      await bench.create('one', { gang: gang.name })
      const { status } = await says(bench, 'one', /^SchedulerUnresponsive: /, SILENCE_MS)
      assert.match(status?.reason ?? '', new RegExp(`the scheduler ${gang.schedulerName} `))
      assert.equal(await bench.bound('one'), 0)
      await processes.scheduler.start()
      const jobs = await bench.complete()
      assert.deepEqual(jobs.map(chargesOf), [[1, 0, 0]])
    })

    test('uninstalled with jobs in the queue: said in the status, and nothing is lost', async (t) => {
      const [bench, nodes] = await twoJobs(t, `${gang.name}-removed`, { gang: gang.name })
      await openAll(nodes)
      const first = await firstPlaced(bench)
      const waiting = otherThan(first)
      const kept = (await bench.pods(waiting)).map(({ metadata }) => metadata.uid)
      await Promise.all([processes.scheduler.stop(), processes.controller.stop()])
      await client.delete(CustomResourceDefinition, { name: gangKindName(resource) })
      await says(bench, waiting, /^GangSchedulerUnavailable: /)
      await until('the placed gang to complete', async () => {
        await bench.play()
        return (await bench.job(first)).status?.state === 'Completed'
      })
      assert.deepEqual(
        (await bench.pods(waiting)).map(({ metadata }) => metadata.uid),
        kept,
      )
      assert.equal(await bench.bound(waiting), 0)
      await processes.install()
      await Promise.all([processes.scheduler.start(), processes.controller.start()])
      const jobs = await bench.complete()
      assert.deepEqual(jobs.map(chargesOf), [
        [1, 0, 0],
        [1, 0, 0],
      ])
    })
  })
