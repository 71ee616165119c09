import assert from 'node:assert/strict'
import test from 'node:test'
import {
  applyCall,
  createCall,
  deleteCall,
  evictCall,
  listCall,
  logCall,
  patchCall,
  rawCall,
  updateCall,
  watchCall,
} from './calls.ts'
import { ConfigMap, Node, Pod } from './resources.ts'
import type { Intent } from './sender.ts'

const key = { namespace: 'a', name: 'b' }
const manager = { fieldManager: 'me' }
const object = (metadata: object = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...key, ...metadata },
})
const line = ({ verb, method, path }: Intent) => `${verb}: ${method} ${path}`
const base = '/api/v1/namespaces/a/configmaps'

test('each verb has its method and path', () => {
  const table: [Intent, string][] = [
    [
      listCall(ConfigMap, { limit: 5, labelSelector: 'x=y' }),
      'list: GET /api/v1/configmaps?labelSelector=x%3Dy&limit=5',
    ],
    [
      listCall(ConfigMap, { limit: 5, resourceVersion: '1', resourceVersionMatch: 'Exact' }, 'next'),
      'list: GET /api/v1/configmaps?limit=5&continue=next',
    ],
    [
      watchCall(ConfigMap, { namespace: 'a', sendInitialEvents: true, timeoutSeconds: 9 }),
      `watch: GET ${base}?watch=true&allowWatchBookmarks=true&timeoutSeconds=9&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    ],
    [
      watchCall(Node, { resourceVersion: '7' }),
      'watch: GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=7',
    ],
    [createCall(ConfigMap, object(), { ...manager, dryRun: true }), `create: POST ${base}?fieldManager=me&dryRun=All`],
    [
      updateCall(ConfigMap, object(), { ...manager, subresource: 'status' }),
      `update: PUT ${base}/b/status?fieldManager=me`,
    ],
    [patchCall(ConfigMap, key, {}, manager), `patch: PATCH ${base}/b?fieldManager=me`],
    [applyCall(ConfigMap, object(), { ...manager, force: true }), `apply: PATCH ${base}/b?fieldManager=me&force=true`],
    [deleteCall(ConfigMap, key, {}), `delete: DELETE ${base}/b`],
    [evictCall(key, {}), 'create: POST /api/v1/namespaces/a/pods/b/eviction'],
    [
      logCall(key, { container: 'c', tailLines: 3, follow: true }, true),
      'get: GET /api/v1/namespaces/a/pods/b/log?container=c&tailLines=3&follow=true',
    ],
    [rawCall({ method: 'GET', path: '/version' }), 'get: GET /version'],
  ]
  for (const [call, expected] of table) assert.equal(line(call), expected)
})

test('a create is repeated only when its name makes it the same create', () => {
  assert.equal(createCall(ConfigMap, object(), manager).repeatable, true)
  const unnamed = { ...object(), metadata: { namespace: 'a', generateName: 'b-' } } as unknown as ConfigMap
  assert.equal(createCall(ConfigMap, unnamed, manager).repeatable, false)
  assert.throws(() => createCall(Pod, { ...object(), metadata: { name: 'b' } }, manager), /needs a namespace/)
})

test('a delete is repeated only with a precondition', () => {
  assert.equal(deleteCall(ConfigMap, key, {}).repeatable, false)
  const exact = deleteCall(ConfigMap, key, { uid: 'u', resourceVersion: '7', gracePeriodSeconds: 0 })
  assert.equal(exact.repeatable, true)
  assert.deepEqual(JSON.parse(exact.body ?? ''), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: 'u', resourceVersion: '7' },
    gracePeriodSeconds: 0,
  })
})

test('a write with a resourceVersion or uid is conditional', () => {
  assert.equal(updateCall(ConfigMap, object({ resourceVersion: '7' }), manager).conditional, true)
  assert.equal(updateCall(ConfigMap, object(), manager).conditional, false)
  assert.equal(patchCall(ConfigMap, key, { metadata: { uid: 'u' } }, manager).conditional, true)
  assert.equal(patchCall(ConfigMap, key, { data: {} }, manager).conditional, false)
  assert.equal(patchCall(ConfigMap, key, null, manager).conditional, false)
})

test('calls name their object for interceptors', () => {
  const { resource, namespace, name, subresource } = evictCall(key, {})
  assert.deepEqual({ resource, namespace, name, subresource }, { resource: Pod, ...key, subresource: 'eviction' })
})

test('an unknown POST is sent once', () => {
  assert.equal(rawCall({ method: 'POST', path: '/apis/x', body: {} }).repeatable, false)
  assert.equal(rawCall({ method: 'POST', path: '/apis/x' }).repeatable, false)
  assert.equal(rawCall({ method: 'GET', path: '/apis/x' }).repeatable, true)
})
