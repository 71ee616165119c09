import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { isConflict, isNotFound } from '../../src/kube/errors.ts'
import { keyOf } from '../../src/kube/object.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { finalize, hasFinalizer, removeFinalizer } from '../../src/runtime/index.ts'
import { namespace, sharedCluster } from '../cluster.ts'

const { client } = await sharedCluster()
const options = { client, resource: ConfigMap, name: 'test.example.com/finalizer' }

async function guarded(t: TestContext): Promise<ConfigMap> {
  const metadata = { namespace: await namespace(t), name: 'guarded', finalizers: ['test.example.com/other'] }
  const object = await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  t.after(() => client.patch(ConfigMap, keyOf(object), { metadata: { finalizers: null } }).catch(() => undefined))
  return object
}

const never = () => assert.fail('cleaned up too early')

describe('a finalizer', () => {
  test('goes through its flow: added first, cleaned up on deletion, removed after success only', async (t) => {
    const created = await guarded(t)
    assert.equal(await finalize(created, options, never), 'active')
    const active = await client.get(ConfigMap, keyOf(created))
    assert.deepEqual(active.metadata.finalizers, ['test.example.com/other', options.name])
    assert.equal(await finalize(active, options, never), 'active')

    await client.delete(ConfigMap, keyOf(created))
    const leaving = await client.get(ConfigMap, keyOf(created))
    const failing = finalize(leaving, options, () => Promise.reject(new Error('not yet')))
    await assert.rejects(failing, /not yet/)
    assert.ok(hasFinalizer(await client.get(ConfigMap, keyOf(created)), options.name))

    const cleaned: string[] = []
    const state = await finalize(leaving, options, async ({ metadata }) => void cleaned.push(metadata.name))
    assert.equal(state, 'finalized')
    assert.deepEqual(cleaned, ['guarded'])
    const left = await client.get(ConfigMap, keyOf(created))
    assert.deepEqual(left.metadata.finalizers, ['test.example.com/other'])
    assert.equal(await finalize(left, options, never), 'gone')
  })

  test('neither adds to nor removes from an object that has changed or has been replaced', async (t) => {
    const created = await guarded(t)
    await client.patch(ConfigMap, keyOf(created), { data: { changed: 'yes' } })
    await assert.rejects(finalize(created, options, never), isConflict)

    const stale = {
      ...created,
      metadata: { ...created.metadata, finalizers: [options.name], deletionTimestamp: 'past' },
    }
    await client.patch(ConfigMap, keyOf(created), { metadata: { finalizers: [options.name] } })
    await assert.rejects(removeFinalizer(stale, options), isConflict)
    assert.ok(hasFinalizer(await client.get(ConfigMap, keyOf(created)), options.name))
  })

  test('removing it from an object that is gone is as good as done', async (t) => {
    const created = await guarded(t)
    const leaving = { ...created, metadata: { ...created.metadata, finalizers: [options.name] } }
    await client.patch(ConfigMap, keyOf(created), { metadata: { finalizers: null } })
    await client.delete(ConfigMap, keyOf(created))
    await assert.rejects(client.get(ConfigMap, keyOf(created)), isNotFound)
    await removeFinalizer(leaving, options)
  })
})
