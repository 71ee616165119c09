/** Gangs that get only some of their nodes, placed by the real scheduler. The test plays the kubelets. On a cluster of its own. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { apiVersionOf } from '../../src/kube/object.ts'
import { NativePodGroup } from '../../src/plan/training/gangs/native.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { isBound, open, place, refusalOf, type SharedNodes, sharedNodes } from '../fixtures/shared-nodes.ts'
import { until } from '../timing/until.ts'

const { cluster, client } = await ownCluster({
  featureGates: ['GenericWorkload', 'GangScheduling'],
  apis: [apiVersionOf(NativePodGroup)],
})

const JOBS = ['one', 'two'] as const

/** Each of the two jobs holds one of two places, and needs both. */
async function halfPlaced(t: TestContext, name: string, gangTimeoutSeconds: number): Promise<SharedNodes> {
  const bench = await sharedNodes(t, { cluster, client }, name)
  const nodes = await Promise.all(JOBS.map((job) => place(t, client, job)))
  for (const job of JOBS) await bench.create(job, { gang: 'none', gangTimeoutSeconds })
  for (const job of JOBS) {
    await until(`a place for ${job}`, async () => (await bench.bound(job)) === 1)
    await until(`${job} to be partial`, async () => (await bench.job(job)).status?.scheduling?.partialSince)
  }
  await Promise.all(nodes.map((node) => open(client, node)))
  return bench
}

describe('two gangs, each with half of the nodes', () => {
  test('both complete: one gives its nodes back, without a charge', async (t) => {
    const bench = await halfPlaced(t, 'release', 3)
    const jobs = await bench.complete()
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
      const messages = waiting.map((pod) => refusalOf(pod)?.message)
      return waiting.length === 2 && messages.every((message) => message?.includes('2 Insufficient cpu'))
    })
    for (const job of JOBS) assert.equal(await bench.bound(job), 1)
  })
})

test('native: the scheduler of Kubernetes places no pod until the whole gang fits', async (t) => {
  const bench = await sharedNodes(t, { cluster, client }, 'native')
  await place(t, client, 'one')
  await bench.create('one', { gang: 'native' })
  await until('both pods to wait', async () => {
    const pods = await bench.pods('one')
    return pods.length === 2 && pods.every((pod) => refusalOf(pod)?.reason === 'Unschedulable')
  })
  assert.equal(await bench.bound('one'), 0)
  await place(t, client, 'one')
  await bench.complete()
})
