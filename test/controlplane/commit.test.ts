import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keyOf } from '../../src/kube/object.ts'
import { ConfigMap, Deployment } from '../../src/kube/resources.ts'
import { committer } from '../../src/runtime/index.ts'
import type { Widget } from '../cluster/widget.ts'
import { client, CommitFixture, configMap, deployment, plan, service, widgets } from '../fixtures/commit.ts'

describe('commit', () => {
  test('writes nothing for a converged object, and repairs every kind of drift', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const children = { apply: [configMap('c'), service('s'), deployment('d')], status: { phase: 'Ready', count: 3 } }
    await fixture.pass(children)
    assert.deepEqual((await fixture.audit.take()).toSorted(), [
      'apply configmaps/c 201',
      'apply deployments/d 201',
      'apply services/s 201',
      'patch widgets/w/status 200',
    ])
    for (let resync = 0; resync < 3; resync++) await fixture.pass(children)
    assert.deepEqual(await fixture.audit.take(), [])

    const at = (name: string) => ({ namespace: fixture.namespace, name })
    await client.patch(ConfigMap, at('c'), { data: { a: 'tampered', extra: 'ours to ignore' } })
    await client.patch(Deployment, at('d'), { spec: { template: { spec: { tolerations: null } } } })
    await fixture.pass(children)
    assert.deepEqual(await fixture.audit.take(), ['apply configmaps/c 200', 'apply deployments/d 200'])
    assert.deepEqual((await client.get(ConfigMap, at('c'))).data, { a: '1', extra: 'ours to ignore' })
    await fixture.pass(children)
    assert.deepEqual(await fixture.audit.take(), [])
  })

  test('writes nothing in a second process', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const children = { apply: [configMap('c'), service('s'), deployment('d')], status: { phase: 'Ready' } }
    await fixture.pass(children)
    await fixture.audit.take()
    const restarted = committer(fixture.manager)
    await fixture.settled()
    const owner = fixture.manager.caches.of(widgets).get({ namespace: fixture.namespace, name: 'w' }) as Widget
    await restarted(owner, plan(children), { client: fixture.manager.client, signal: AbortSignal.timeout(30_000) })
    assert.deepEqual(await fixture.audit.take(), [])
  })

  test('accepts values that the server normalizes: one write per process', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const divisor = { resourceFieldRef: { resource: 'limits.cpu', divisor: '1000m' } }
    const rewritten = structuredClone(deployment('d')) as unknown as Deployment
    const container = rewritten.spec?.template.spec?.containers[0]
    Object.assign(container ?? {}, { env: [{ name: 'CPU', valueFrom: divisor }] })
    const apply = [rewritten]
    for (let pass = 0; pass < 3; pass++) await fixture.pass({ apply })
    assert.deepEqual(await fixture.audit.take(), ['apply deployments/d 201'])
  })

  test('removes additions of others, also during a repair', async (t) => {
    const fixture = await CommitFixture.start(t, { exclusive: {} })
    await fixture.widget()
    const apply = [configMap('c')]
    await fixture.pass({ apply })
    const key = { namespace: fixture.namespace, name: 'c' }
    const add = (data: object) => client.patch(ConfigMap, key, { data }, { fieldManager: 'kubectl' })
    await add({ first: '1' })
    fixture.beforeApply = () => add({ late: '2' })
    await fixture.pass({ apply })
    assert.deepEqual((await client.get(ConfigMap, key)).data, { a: '1', late: '2' })
    await fixture.pass({ apply })
    assert.deepEqual((await client.get(ConfigMap, key)).data, { a: '1' })
    await fixture.audit.take()
    await fixture.pass({ apply })
    assert.deepEqual(await fixture.audit.take(), [])
  })

  test('removes a field that is no longer intended', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    await fixture.pass({ apply: [configMap('c', { a: '1', b: '2' })] })
    await fixture.pass({ apply: [configMap('c', { a: '1' })] })
    const { data } = await client.get(ConfigMap, { namespace: fixture.namespace, name: 'c' })
    assert.deepEqual(data, { a: '1' })
  })

  test('sets the controller reference, and is the only field manager', async (t) => {
    const fixture = await CommitFixture.start(t)
    const owner = await fixture.widget()
    await fixture.pass({ apply: [configMap('c')] })
    const child = await client.get(ConfigMap, { namespace: fixture.namespace, name: 'c' })
    const { uid } = owner.metadata
    assert.deepEqual(child.metadata.ownerReferences, [
      { apiVersion: owner.apiVersion, kind: 'Widget', name: 'w', uid, controller: true, blockOwnerDeletion: true },
    ])
    const { managedFields } = child.metadata as { managedFields?: { manager: string; operation: string }[] }
    assert.deepEqual(
      managedFields?.map(({ manager, operation }) => `${manager} ${operation}`),
      ['bench Apply'],
    )
  })

  for (const known of [true, false]) {
    test(`never touches a foreign object, ${known ? 'known to the cache' : 'unknown to the cache'}`, async (t) => {
      const fixture = await CommitFixture.start(t)
      await fixture.widget()
      const foreign = { ...configMap('c', { whose: 'theirs' }), metadata: { name: 'c', namespace: fixture.namespace } }
      const cached = fixture.manager.caches.of(ConfigMap)
      if (!known) t.mock.method(cached, 'get', () => undefined)
      const { metadata } = await client.create(ConfigMap, foreign)
      const target = { apply: [configMap('c'), configMap('b'), service('s')], status: { phase: 'Ready' } }
      await assert.rejects(fixture.pass(target), { code: 'NameConflict', message: /^ConfigMap\/c already exists/ })
      const now = await client.get(ConfigMap, keyOf(foreign))
      assert.equal(now.metadata.resourceVersion, metadata.resourceVersion)
      const { status } = await client.get(widgets, { namespace: fixture.namespace, name: 'w' })
      assert.equal(status, undefined, 'no status claims what is not there')
      assert.deepEqual(
        await fixture.audit.take(),
        known ? ['apply configmaps/b 201'] : ['apply configmaps/c 409', 'apply configmaps/b 201'],
      )
      await client.delete(ConfigMap, keyOf(foreign))
      if (!known) t.mock.restoreAll()
      await fixture.pass(target)
      const cleared = await client.get(widgets, { namespace: fixture.namespace, name: 'w' })
      assert.deepEqual(cleared.status, { phase: 'Ready' })
    })
  }

  test('writes nothing outside the namespace of the owner', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const elsewhere = { ...configMap('c'), metadata: { name: 'c', namespace: 'default' } }
    await assert.rejects(fixture.pass({ apply: [elsewhere] }), /not in the namespace of its owner/)
    await assert.rejects(fixture.pass({ createUnowned: [elsewhere] }), /not in the namespace of its owner/)
    assert.deepEqual(await fixture.audit.take(), [])
  })
})
