/** When the client repeats a call. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { json, key, object, ok, reject, reset, type Respond, scriptedServer } from '../../test/fakes/scripted-server.ts'
import { ConnectionError, isAlreadyExists, isConflict } from './errors.ts'
import { ConfigMap } from './resources.ts'

describe('a call is repeated', () => {
  test('after 429, not before Retry-After', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(429, 'TooManyRequests', { 'retry-after': '1' }), ok])
    const began = performance.now()
    await client.get(ConfigMap, key)
    assert.ok(performance.now() - began >= 1_000)
    assert.equal(requests.length, 2)
  })

  test('after 5xx and resets', async (t) => {
    const { client, requests } = await scriptedServer(t, [
      reject(503, 'ServiceUnavailable'),
      reset,
      reject(500, 'InternalError'),
      ok,
    ])
    await client.get(ConfigMap, key)
    assert.equal(requests.length, 4)
  })

  test('after a truncated response', async (t) => {
    const half: Respond = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"kind":')
      setImmediate(() => response.socket?.resetAndDestroy())
    }
    const { client } = await scriptedServer(t, [half, ok])
    assert.equal((await client.get(ConfigMap, key)).kind, 'ConfigMap')
  })

  test('after a conflict, unless it is conditional', async (t) => {
    const racing = await scriptedServer(t, [reject(409, 'Conflict'), ok])
    await racing.client.patch(ConfigMap, key, { data: { a: '1' } })
    assert.equal(racing.requests.length, 2)

    const asking = await scriptedServer(t, [reject(409, 'Conflict'), ok])
    await assert.rejects(asking.client.patch(ConfigMap, key, { metadata: { resourceVersion: '7' } }), isConflict)
    await assert.rejects(
      (await scriptedServer(t, [reject(409, 'Conflict'), ok])).client.delete(ConfigMap, key, { uid: 'u' }),
      isConflict,
    )
    assert.equal(asking.requests.length, 1)
  })

  test('after a lost response to a create, with AlreadyExists as the result', async (t) => {
    const { client, requests } = await scriptedServer(t, [reset, reject(409, 'AlreadyExists')])
    await assert.rejects(client.create(ConfigMap, object), isAlreadyExists)
    assert.equal(requests.length, 2)
  })

  test('a limited number of times', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(503, 'ServiceUnavailable')])
    await assert.rejects(client.get(ConfigMap, key), { code: 503 })
    assert.equal(requests.length, 5)
  })

  test('within the retry budget of the client', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(503, 'ServiceUnavailable')])
    const calls = Array.from({ length: 100 }, () => client.get(ConfigMap, key))
    const results = await Promise.allSettled(calls)
    assert.ok(results.every(({ status }) => status === 'rejected'))
    assert.ok(requests.length < 200, `${requests.length} requests for 100 calls`)
  })

  test('but not if it is not idempotent', async (t) => {
    const { client, requests } = await scriptedServer(t, [reset])
    const unnamed = { ...object, metadata: { namespace: 'ns', generateName: 'x-' } } as unknown as ConfigMap
    await assert.rejects(client.create(ConfigMap, unnamed), ConnectionError)
    await assert.rejects(client.delete(ConfigMap, key), ConnectionError)
    await assert.rejects(client.request({ method: 'POST', path: '/apis', body: {} }), ConnectionError)
    assert.equal(requests.length, 3)
  })

  test('but not an eviction that a PodDisruptionBudget rejects', async (t) => {
    const details = { causes: [{ reason: 'DisruptionBudget' }] }
    const { client, requests } = await scriptedServer(t, [
      (response) => json(response, 429, { kind: 'Status', code: 429, reason: 'TooManyRequests', details }),
    ])
    await assert.rejects(client.evict(key), { code: 429 })
    assert.equal(requests.length, 1)
  })

  test('by the watch itself, never by the client', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(503, 'ServiceUnavailable')])
    await assert.rejects(
      async () => {
        for await (const event of client.openWatch(ConfigMap)) assert.fail(event.type)
      },
      { code: 503 },
    )
    assert.equal(requests.length, 1)
  })
})

describe('after a timeout', () => {
  test('the next call does not wait on the same dead connections', async (t) => {
    let silent = false
    const { client, requests, sockets } = await scriptedServer(t, [(response) => silent || ok(response, response.req)])
    await Promise.all(Array.from({ length: 8 }, () => client.get(ConfigMap, key)))
    const old = new Set(sockets)
    silent = true
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 50 }), ConnectionError)
    silent = false
    await client.get(ConfigMap, key)
    assert.ok(!old.has(requests.at(-1)?.socket as Socket))
  })
})
