/** Evictions of a plan: recorded before, only pods of the owner, and as far as PodDisruptionBudgets allow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keyOf } from '../../src/kube/object.ts'
import { Pod, PodDisruptionBudget } from '../../src/kube/resources.ts'
import { controllerReference } from '../../src/runtime/index.ts'
import { client, CommitFixture } from '../fixtures/commit.ts'
import { until } from '../timing/until.ts'

async function podIn(namespace: string, name: string, owner?: Parameters<typeof controllerReference>[0]): Promise<Pod> {
  const ownerReferences = owner ? [controllerReference(owner)] : []
  return client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: name }, ownerReferences },
    spec: { nodeName: 'nowhere', containers: [{ name: 'main', image: 'x' }] },
  })
}

const isGoing = async (pod: Pod): Promise<boolean> => {
  const { metadata } = await client.get(Pod, keyOf(pod))
  return metadata.deletionTimestamp !== undefined
}

describe('commit evicts', () => {
  test('a pod of the owner, once the status is stored', async (t) => {
    const fixture = await CommitFixture.start(t)
    const pod = await podIn(fixture.namespace, 'p', await fixture.widget())
    const status = { phase: 'Evicting' }
    await fixture.pass({ evict: [pod], status })
    assert.equal(await isGoing(pod), false, 'not in the pass that records it')
    await fixture.audit.take()
    await fixture.pass({ evict: [pod], status })
    assert.equal(await isGoing(pod), true)
    assert.deepEqual(await fixture.audit.take(), ['create pods/p/eviction 201'])
    await fixture.pass({ evict: [await client.get(Pod, keyOf(pod))] })
    assert.deepEqual(await fixture.audit.take(), [], 'a terminating pod is skipped')
  })

  test('neither a pod of another owner nor another pod of the same name', async (t) => {
    const fixture = await CommitFixture.start(t)
    const owner = await fixture.widget()
    const foreign = await podIn(fixture.namespace, 'foreign', await fixture.widget('other'))
    const unowned = await podIn(fixture.namespace, 'unowned')
    const own = await podIn(fixture.namespace, 'own', owner)
    const past = { ...own, metadata: { ...own.metadata, uid: '00000000-0000-0000-0000-000000000000' } }
    await fixture.pass({ evict: [foreign, unowned, past] })
    for (const pod of [foreign, unowned, own]) assert.equal(await isGoing(pod), false, pod.metadata.name)
  })

  test('not a pod that a PodDisruptionBudget protects, without an error', async (t) => {
    const fixture = await CommitFixture.start(t)
    const pod = await podIn(fixture.namespace, 'p', await fixture.widget())
    await client.patch(Pod, keyOf(pod), { status: READY }, { subresource: 'status' })
    const budget = await client.create(PodDisruptionBudget, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace: fixture.namespace, name: 'keep' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'p' } } },
    })
    await until('the budget to be counted', async () => {
      const { status } = await client.get(PodDisruptionBudget, keyOf(budget))
      return status?.currentHealthy === 1
    })
    await fixture.pass({ evict: [pod] })
    assert.equal(await isGoing(pod), false)
  })
})

const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
