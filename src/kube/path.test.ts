import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { checkedPath, collectionPath, objectPath, withQuery } from './path.ts'
import { Deployment, Namespace, Node, Pod } from './resources.ts'

test('paths follow the group, the scope and the subresource', () => {
  assert.equal(objectPath(Pod, { namespace: 'a', name: 'b' }), '/api/v1/namespaces/a/pods/b')
  assert.equal(objectPath(Pod, { namespace: 'a', name: 'b' }, 'log'), '/api/v1/namespaces/a/pods/b/log')
  assert.equal(objectPath(Deployment, { namespace: 'a', name: 'b' }), '/apis/apps/v1/namespaces/a/deployments/b')
  assert.equal(objectPath(Node, { name: 'n' }), '/api/v1/nodes/n')
  assert.equal(objectPath(Namespace, { name: 'n' }, 'finalize'), '/api/v1/namespaces/n/finalize')
  assert.equal(collectionPath(Pod, undefined), '/api/v1/pods')
  assert.equal(collectionPath(Pod, 'a'), '/api/v1/namespaces/a/pods')
})

test('rejects parts that are empty, relative or have a separator', () => {
  for (const bad of ['', '.', '..', 'a/b', '../x', 'a%2fb', '/']) {
    assert.throws(() => objectPath(Pod, { namespace: 'a', name: bad }), TypeError, `name ${bad}`)
    assert.throws(() => objectPath(Pod, { namespace: bad, name: 'a' }), TypeError, `namespace ${bad}`)
    assert.throws(() => objectPath(Pod, { namespace: 'a', name: 'a' }, bad), TypeError, `subresource ${bad}`)
  }
})

test('the scope of the kind is respected', () => {
  assert.throws(() => objectPath(Pod, { name: 'a' }), /Pod "a" needs a namespace/)
  assert.throws(() => objectPath(Node, { namespace: 'x', name: 'a' }), /Node is cluster-scoped/)
})

test('whatever the name, the path keeps its structure or the call fails', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      let path: string
      try {
        path = objectPath(Pod, { namespace: 'ns', name })
      } catch (error) {
        assert.ok(error instanceof TypeError || error instanceof URIError)
        return
      }
      const url = new URL(path, 'https://server')
      assert.equal(url.pathname.split('/').length, 7)
      assert.ok(url.pathname.startsWith('/api/v1/namespaces/ns/pods/'))
      assert.equal(url.search + url.hash, '')
    }),
  )
})

test('accepts complete paths only if they are plain', () => {
  assert.equal(checkedPath('/openapi/v3'), '/openapi/v3')
  for (const bad of ['readyz', '/a/../b', '/a?b', '/a#b', '/%2e%2e/a', '/a b', '/a\\b', 'https://elsewhere/']) {
    assert.throws(() => checkedPath(bad), TypeError, bad)
  }
})

test('encodes queries and omits undefined', () => {
  assert.equal(withQuery('/a', { x: undefined }), '/a')
  assert.equal(
    withQuery('/a', { labelSelector: 'a in (b,c)', limit: 5, watch: true }),
    '/a?labelSelector=a%20in%20(b%2Cc)&limit=5&watch=true',
  )
})
