import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keyOf, type KubeObject } from '../../src/kube/object.ts'
import { ConfigMap, Deployment, Pod, Secret } from '../../src/kube/resources.ts'
import type { Widget } from '../cluster/widget.ts'
import { client, CommitFixture, configMap, deployment, plan, stuckPod, widgets } from '../fixtures/commit.ts'
import { until } from '../timing/until.ts'

describe('commit', () => {
  test('a graceful deletion deletes only the observed object, not another of the same name', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    await fixture.pass({ apply: [configMap('c')] })
    await fixture.settled()
    const seen = fixture.manager.caches.of(ConfigMap).get({ namespace: fixture.namespace, name: 'c' }) as ConfigMap
    await client.delete(ConfigMap, keyOf(seen))
    await client.create(ConfigMap, { ...configMap('c'), metadata: { name: 'c', namespace: fixture.namespace } })
    await fixture.pass({ graceful: [seen] })
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
    const foreign = await client.get(ConfigMap, keyOf(seen))
    assert.deepEqual((await fixture.pass({ graceful: [foreign] })).foreign, ['ConfigMap/c'])
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
  })

  test('a graceful deletion deletes nothing when the owner has changed since it was planned for', async (t) => {
    const fixture = await CommitFixture.start(t)
    const owner = await fixture.widget()
    await fixture.pass({ apply: [configMap('c')] })
    await fixture.settled()
    const seen = fixture.manager.caches.of(ConfigMap).get({ namespace: fixture.namespace, name: 'c' }) as ConfigMap
    await client.patch(widgets, keyOf(owner), { metadata: { labels: { another: 'spec' } } })
    const call = { client, signal: AbortSignal.timeout(60_000) }
    await assert.rejects(fixture.commit(owner, plan({ graceful: [seen] }), call), /planning again/)
    assert.ok(await client.get(ConfigMap, keyOf(seen)))
    await client.delete(widgets, keyOf(owner))
    await assert.rejects(fixture.commit(owner, plan({ graceful: [seen] }), call), /planning again/)
  })

  test('recreates a deleted child only for the current owner', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    await fixture.pass({ apply: [configMap('c')] })
    await fixture.settled()
    const key = { namespace: fixture.namespace, name: 'w' }
    const past = fixture.manager.caches.of(widgets).get(key) as Widget
    await client.delete(ConfigMap, { namespace: fixture.namespace, name: 'c' })
    await client.patch(widgets, key, { metadata: { labels: { another: 'spec' } } })
    await fixture.settled()
    const call = { client, signal: AbortSignal.timeout(60_000) }
    await assert.rejects(fixture.commit(past, plan({ apply: [configMap('c')] }), call), /planning again/)
    await fixture.audit.take()
    await fixture.pass({ apply: [configMap('c')] })
    assert.deepEqual(await fixture.audit.take(), ['apply configmaps/c 201'])
  })

  test('createUnowned creates without an owner, and never changes an existing object', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    await fixture.pass({ createUnowned: [configMap('k')] })
    const kept = await client.get(ConfigMap, { namespace: fixture.namespace, name: 'k' })
    assert.equal(kept.metadata.ownerReferences, undefined)
    await fixture.audit.take()
    await fixture.pass({ createUnowned: [configMap('k', { other: 'data' })] })
    assert.deepEqual(await fixture.audit.take(), [])
  })

  test('create writes once, with a controller, and never changes the child', async (t) => {
    const fixture = await CommitFixture.start(t)
    const owner = await fixture.widget()
    const key = { namespace: fixture.namespace, name: 'run' }
    await fixture.pass({ create: [configMap('run')] })
    const { metadata } = await client.get(ConfigMap, key)
    assert.equal(metadata.ownerReferences?.[0]?.uid, owner.metadata.uid)
    await fixture.pass({ create: [configMap('run', { other: 'data' })] })
    const cached = fixture.manager.caches.of(ConfigMap)
    t.mock.method(cached, 'get', () => undefined)
    await fixture.pass({ create: [configMap('run', { other: 'data' })] })
    t.mock.restoreAll()
    assert.equal((await client.get(ConfigMap, key)).metadata.resourceVersion, metadata.resourceVersion)
    await client.create(ConfigMap, { ...configMap('theirs'), metadata: { ...key, name: 'theirs' } })
    await assert.rejects(fixture.pass({ create: [configMap('theirs')] }), { code: 'NameConflict' })
  })

  test('createUnread writes once, with a controller, and never reads', async (t) => {
    const fixture = await CommitFixture.start(t)
    const { metadata } = await fixture.widget()
    const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { key: 'first' } }
    await fixture.pass({ createUnread: [keys] })
    await fixture.pass({ createUnread: [{ ...keys, stringData: { key: 'second' } } as KubeObject] })
    const stored = await client.get(Secret, { namespace: fixture.namespace, name: 'keys' })
    assert.equal(stored.data?.['key'], Buffer.from('first').toString('base64'))
    assert.equal(stored.metadata.ownerReferences?.[0]?.uid, metadata.uid)
    assert.deepEqual(await fixture.audit.take(), ['create secrets/keys 201', 'create secrets/keys 409'])
    await assert.rejects(fixture.pass({ createUnread: [configMap('seen')] }), /not declared as unread/)
  })

  test('force deletes pods that cannot end, also those of a controlled child', async (t) => {
    const fixture = await CommitFixture.start(t)
    const { namespace: ns } = fixture
    await fixture.widget()
    await fixture.pass({ apply: [configMap('parent')] })
    const { apiVersion, kind, metadata } = await client.get(ConfigMap, { namespace: ns, name: 'parent' })
    const owner = { apiVersion, kind, name: 'parent', uid: metadata.uid ?? '', controller: true }
    const stuck = await stuckPod(ns, 'ours', [owner])
    const foreign = await stuckPod(ns, 'theirs', [])
    const spared = await fixture.pass({ force: [stuck, foreign] })
    assert.deepEqual(spared.foreign, ['Pod/theirs'])
    const left = (await client.list(Pod, { namespace: ns })).items.map((pod) => pod.metadata.name)
    assert.deepEqual(left, ['theirs'])
    await client.delete(Pod, keyOf(foreign), { gracePeriodSeconds: 0 })
  })

  test('annotates the pods of its own Deployment once, and no others', async (t) => {
    const fixture = await CommitFixture.start(t)
    const { namespace: ns } = fixture
    await fixture.widget()
    const replicated = { ...deployment('d'), spec: { ...(deployment('d') as Deployment).spec, replicas: 1 } }
    await fixture.pass({ apply: [replicated] })
    const pod = await until('the scheduler to have judged the pod', async () => {
      const { items } = await client.list(Pod, { namespace: ns })
      return items.find(({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled'))
    })
    const { apiVersion, kind, spec } = pod
    const { labels = {}, ownerReferences = [] } = pod.metadata
    const stranger = { ...labels, 'pod-template-hash': 'other' }
    const make = (name: string, metadata: Partial<Pod['metadata']>) =>
      client.create(Pod, { apiVersion, kind, metadata: { ...metadata, name, namespace: ns }, spec } as Pod)
    const foreign = await make('theirs', { labels: stranger, ownerReferences })
    await fixture.audit.take()
    const annotations = { 'example.com/route': 'a' }
    const annotate = [
      { object: pod, annotations },
      { object: foreign, annotations },
    ]
    assert.deepEqual((await fixture.pass({ annotate })).foreign, ['Pod/theirs'])
    assert.deepEqual(await fixture.audit.take(), [`patch pods/${pod.metadata.name} 200`])
    const annotated = await client.get(Pod, keyOf(pod))
    assert.equal(annotated.metadata.annotations?.['example.com/route'], 'a')
    await fixture.pass({ annotate: [{ object: annotated, annotations }] })
    assert.deepEqual(await fixture.audit.take(), [])

    const past = { ...annotated, metadata: { ...annotated.metadata, uid: '00000000-0000-4000-8000-000000000000' } }
    const other = { 'example.com/route': 'b' }
    await fixture.pass({ annotate: [{ object: past, annotations: other }] })
    assert.equal((await client.get(Pod, keyOf(pod))).metadata.annotations?.['example.com/route'], 'a')
    assert.deepEqual(await fixture.audit.take(), [`patch pods/${pod.metadata.name} 422`])
    const absent = { ...annotated, metadata: { ...annotated.metadata, name: 'gone' } }
    assert.deepEqual((await fixture.pass({ annotate: [{ object: absent, annotations: other }] })).foreign, [])
  })

  test('deletes unowned data only when a live read shows the owner terminating', async (t) => {
    const fixture = await CommitFixture.start(t)
    const { namespace: ns } = fixture
    const owner = await fixture.widget()
    await fixture.pass({ createUnowned: [configMap('data')] })
    const data = await client.get(ConfigMap, { namespace: ns, name: 'data' })
    await assert.rejects(fixture.pass({ unowned: [data] }), /is not being deleted/)
    await client.patch(widgets, keyOf(owner), { metadata: { finalizers: ['example.com/hold'] } })
    await client.delete(widgets, keyOf(owner))
    await fixture.pass({ unowned: [data] })
    assert.deepEqual(await fixture.audit.take(), ['create configmaps/data 201', 'delete configmaps/data 200'])
    await client.patch(widgets, keyOf(owner), { metadata: { finalizers: null } })
  })

  test('deletes an expired owner, unless it has changed', async (t) => {
    const fixture = await CommitFixture.start(t)
    const stale = await fixture.widget()
    await client.patch(widgets, keyOf(stale), { spec: { size: 2 } })
    const call = { client: fixture.manager.client, signal: AbortSignal.timeout(30_000) }
    await fixture.commit(stale, plan({ owner: [stale] }), call)
    assert.equal((await client.get(widgets, keyOf(stale))).metadata.deletionTimestamp, undefined)
    await fixture.pass({ owner: [await client.get(widgets, keyOf(stale))] })
    await assert.rejects(client.get(widgets, keyOf(stale)), /not found/)
  })
})
