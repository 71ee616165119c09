import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isAlreadyExists, isConflict, isFieldConflict, isInvalid, isNotFound } from '../../src/kube/errors.ts'
import { keyOf } from '../../src/kube/object.ts'
import { ConfigMap, Deployment, Pod } from '../../src/kube/resources.ts'
import { configMap, pendingPod as pod } from '../builders/objects.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'

const { client } = await sharedCluster()

describe('objects', () => {
  test('are created once', async (t) => {
    const ns = await namespace(t)
    const made = await client.create(ConfigMap, configMap(ns, 'a', { x: '1' }))
    assert.ok(made.metadata.uid)
    await assert.rejects(client.create(ConfigMap, configMap(ns, 'a')), isAlreadyExists)
    assert.deepEqual(await client.get(ConfigMap, keyOf(made)), made)
  })

  test('keep unknown fields, and times as text', async (t) => {
    const ns = await namespace(t)
    const { metadata } = await client.create(ConfigMap, configMap(ns, 'a', { x: '1' }))
    assert.equal(typeof metadata.creationTimestamp, 'string')
    assert.ok('managedFields' in metadata)
  })

  test('are created with a generated name', async (t) => {
    const ns = await namespace(t)
    const unnamed = { ...configMap(ns, ''), metadata: { namespace: ns, generateName: 'gen-' } } as unknown as ConfigMap
    assert.match((await client.create(ConfigMap, unnamed)).metadata.name, /^gen-/)
  })

  test('are updated only with the current resourceVersion', async (t) => {
    const ns = await namespace(t)
    const first = await client.create(ConfigMap, configMap(ns, 'a'))
    const second = await client.update(ConfigMap, { ...first, data: { x: '2' } })
    assert.equal(second.data?.['x'], '2')
    await assert.rejects(client.update(ConfigMap, { ...first, data: { x: '3' } }), isConflict)
  })

  test('are patched field by field, and with a resourceVersion only if unchanged', async (t) => {
    const ns = await namespace(t)
    const first = await client.create(ConfigMap, configMap(ns, 'a', { x: '1', y: '1' }))
    const patched = await client.patch(ConfigMap, keyOf(first), { data: { x: '2', y: null } })
    assert.deepEqual(patched.data, { x: '2' })
    const { resourceVersion } = first.metadata
    await assert.rejects(client.patch(ConfigMap, keyOf(first), { metadata: { resourceVersion } }), isConflict)
  })

  test('lose no patch of many in parallel', async (t) => {
    const ns = await namespace(t)
    const { metadata } = await client.create(ConfigMap, configMap(ns, 'a'))
    const names = Array.from({ length: 50 }, (_, index) => `k${index}`)
    await Promise.all(
      names.map((name) => client.patch(ConfigMap, { namespace: ns, name: 'a' }, { data: { [name]: '1' } })),
    )
    const { data } = await client.get(ConfigMap, { namespace: ns, name: metadata.name })
    assert.deepEqual(Object.keys(data ?? {}).toSorted(), names.toSorted())
  })

  test('are applied: created, changed, and without fields that are no longer given', async (t) => {
    const ns = await namespace(t)
    const first = await client.apply(ConfigMap, configMap(ns, 'a', { x: '1', y: '1' }))
    const second = await client.apply(ConfigMap, configMap(ns, 'a', { x: '2' }))
    assert.deepEqual(second.data, { x: '2' })
    const third = await client.apply(ConfigMap, configMap(ns, 'a', { x: '2' }))
    assert.equal(third.metadata.resourceVersion, second.metadata.resourceVersion, 'nothing changed, nothing written')
    assert.notEqual(first.metadata.resourceVersion, second.metadata.resourceVersion)
  })

  test('reject an apply of fields of another manager, unless forced', async (t) => {
    const ns = await namespace(t)
    await client.apply(ConfigMap, configMap(ns, 'a', { x: 'mine' }))
    const theirs = configMap(ns, 'a', { x: 'theirs' })
    await assert.rejects(client.apply(ConfigMap, theirs, { fieldManager: 'other' }), isFieldConflict)
    const forced = await client.apply(ConfigMap, theirs, { fieldManager: 'other', force: true })
    assert.equal(forced.data?.['x'], 'theirs')
  })

  test('are not changed by a dry run', async (t) => {
    const ns = await namespace(t)
    await client.create(ConfigMap, configMap(ns, 'a'), { dryRun: true })
    await assert.rejects(client.get(ConfigMap, { namespace: ns, name: 'a' }), isNotFound)
    const made = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.delete(ConfigMap, keyOf(made), { dryRun: true })
    assert.equal((await client.get(ConfigMap, keyOf(made))).metadata.uid, made.metadata.uid)
  })

  test('have a status subresource', async (t) => {
    const ns = await namespace(t)
    const made = await client.create(Pod, pod(ns, 'p'))
    const patched = await client.patch(Pod, keyOf(made), { status: { message: 'seen' } }, { subresource: 'status' })
    assert.equal(patched.status?.message, 'seen')
    const status = await client.get(Pod, keyOf(made), { subresource: 'status' })
    assert.equal(status.status?.message, 'seen')
  })

  test('are rejected with the invalid field', async (t) => {
    const ns = await namespace(t)
    const bad = pod(ns, 'p')
    await assert.rejects(client.create(Pod, { ...bad, spec: { containers: [] } }), (error) => {
      assert.ok(isInvalid(error))
      assert.equal(error.details?.causes?.[0]?.field, 'spec.containers')
      return true
    })
  })
})

describe('a delete', () => {
  test('resolves when the object does not exist', async (t) => {
    const ns = await namespace(t)
    await client.delete(ConfigMap, { namespace: ns, name: 'never' })
  })

  test('does not delete another object of the same name', async (t) => {
    const ns = await namespace(t)
    const old = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.delete(ConfigMap, keyOf(old), { uid: old.metadata.uid ?? '' })
    const young = await client.create(ConfigMap, configMap(ns, 'a'))
    await assert.rejects(client.delete(ConfigMap, keyOf(old), { uid: old.metadata.uid ?? '' }), isConflict)
    assert.equal((await client.get(ConfigMap, keyOf(old))).metadata.uid, young.metadata.uid)
  })

  test('does not delete a changed object', async (t) => {
    const ns = await namespace(t)
    const old = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.patch(ConfigMap, keyOf(old), { data: { x: '1' } })
    const { resourceVersion = '' } = old.metadata
    await assert.rejects(client.delete(ConfigMap, keyOf(old), { resourceVersion }), isConflict)
  })

  test('passes propagationPolicy on', async (t) => {
    const ns = await namespace(t)
    const spec = {
      selector: { matchLabels: { app: 'd' } },
      replicas: 0,
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'none' }] } },
    }
    const made = await client.create(Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: ns, name: 'd', finalizers: ['example.com/hold'] },
      spec,
    })
    await client.delete(Deployment, keyOf(made), { propagationPolicy: 'Foreground' })
    assert.ok((await finalizersAtDeletion(made)).includes('foregroundDeletion'))
    await client.patch(Deployment, keyOf(made), { metadata: { finalizers: null } })
  })
})

/** The finalizers at the moment of the deletion; the garbage collector changes them soon after. */
async function finalizersAtDeletion({ metadata }: Deployment): Promise<readonly string[]> {
  const { namespace: ns = '', resourceVersion = '' } = metadata
  for await (const event of client.openWatch(Deployment, { namespace: ns, resourceVersion, timeoutSeconds: 60 })) {
    if (event.type !== 'MODIFIED' || event.object.metadata.deletionTimestamp === undefined) continue
    return event.object.metadata.finalizers ?? []
  }
  return []
}
