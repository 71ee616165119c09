import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { isConflict, isNotFound } from '../../src/kube/errors.ts'
import { keyOf } from '../../src/kube/object.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { hasFinalizer, removeFinalizer } from '../../src/runtime/index.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'

const { client } = await sharedCluster()
const options = { client, resource: ConfigMap, name: 'test.example.com/finalizer' }

async function guarded(t: TestContext): Promise<ConfigMap> {
  const finalizers = ['test.example.com/other', options.name]
  const metadata = { namespace: await namespace(t), name: 'guarded', finalizers }
  const object = await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  t.after(() => client.patch(ConfigMap, keyOf(object), { metadata: { finalizers: null } }).catch(() => undefined))
  return object
}

describe('removing a finalizer', () => {
  test('keeps the finalizers of others, and does nothing the second time', async (t) => {
    const created = await guarded(t)
    await client.delete(ConfigMap, keyOf(created))
    const terminating = await client.get(ConfigMap, keyOf(created))
    await removeFinalizer(terminating, options)
    const left = await client.get(ConfigMap, keyOf(created))
    assert.deepEqual(left.metadata.finalizers, ['test.example.com/other'])
    await removeFinalizer(left, options)
    const after = await client.get(ConfigMap, keyOf(created))
    assert.equal(after.metadata.resourceVersion, left.metadata.resourceVersion)
  })

  test('fails for an object that has changed or has been replaced', async (t) => {
    const created = await guarded(t)
    await client.patch(ConfigMap, keyOf(created), { data: { changed: 'yes' } })
    await assert.rejects(removeFinalizer(created, options), isConflict)
    assert.ok(hasFinalizer(await client.get(ConfigMap, keyOf(created)), options.name))
  })

  test('succeeds for an object that is gone', async (t) => {
    const created = await guarded(t)
    await client.patch(ConfigMap, keyOf(created), { metadata: { finalizers: null } })
    await client.delete(ConfigMap, keyOf(created))
    await assert.rejects(client.get(ConfigMap, keyOf(created)), isNotFound)
    await removeFinalizer(created, options)
  })
})
