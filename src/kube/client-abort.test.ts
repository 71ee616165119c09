/** How calls end: by timeout, by the caller, by closing the client. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { key, ok, reject, type Respond, scriptedServer, silence } from '../../test/fakes/scripted-server.ts'
import { fixedCredential } from './client-config.ts'
import { ConnectionError } from './errors.ts'
import { ConfigMap } from './resources.ts'

describe('a call ends', () => {
  test('at its timeout', async (t) => {
    const { client } = await scriptedServer(t, [silence])
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 100 }), (error: ConnectionError) => {
      assert.ok(error instanceof ConnectionError)
      assert.match(error.message, /no complete response within \d+ ms/)
      return true
    })
  })

  test('at once when the caller aborts, together with its connection', async (t) => {
    const { client, requests, sockets } = await scriptedServer(t, [silence])
    const caller = new AbortController()
    const call = client.get(ConfigMap, key, { signal: caller.signal })
    const reason = new Error('changed my mind')
    while (requests.length === 0) await new Promise(setImmediate)
    const [socket] = sockets
    const closed = once(socket as Socket, 'close')
    caller.abort(reason)
    await assert.rejects(call, reason)
    await closed
  })

  test('before it is sent if the caller has already aborted', async (t) => {
    const { client, requests } = await scriptedServer(t, [ok])
    await assert.rejects(client.get(ConfigMap, key, { signal: AbortSignal.abort(new Error('no')) }), /^Error: no$/)
    assert.equal(requests.length, 0)
  })

  test('when the caller aborts while waiting for a retry', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(429, 'TooManyRequests', { 'retry-after': '100' })])
    const caller = new AbortController()
    const call = client.get(ConfigMap, key, { signal: caller.signal, timeoutMs: 1e6 })
    while (requests.length === 0) await new Promise(setImmediate)
    setTimeout(() => caller.abort(new Error('enough')), 20)
    await assert.rejects(call, /^Error: enough$/)
  })

  test('without waiting if Retry-After exceeds the timeout', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(429, 'TooManyRequests', { 'retry-after': '100' })])
    await assert.rejects(client.get(ConfigMap, key), { code: 429, retryAfterMs: 100_000 })
    assert.equal(requests.length, 1)
  })

  test('after the client was closed', async (t) => {
    const { client } = await scriptedServer(t, [silence])
    const call = client.get(ConfigMap, key)
    await client.close()
    await assert.rejects(call)
    await assert.rejects(client.get(ConfigMap, key), /the client is closed/)
  })

  test('when the client is closed, also on retired connections', async (t) => {
    const begin: Respond = (response) => response.writeHead(200).write('one\n')
    const answer: Respond = (response, request) => (request.url?.includes('log') ? begin : silence)(response, request)
    const { client } = await scriptedServer(t, [answer])
    const log = client.streamLogs(key)[Symbol.asyncIterator]()
    await log.next()
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 50 }), ConnectionError)
    const end = assert.rejects(log.next())
    await client.close()
    await end
  })

  test('with an error if the request cannot be written', async (t) => {
    const { client } = await scriptedServer(t, [ok], { credentials: fixedCredential({ token: 'two\nlines' }) })
    await assert.rejects(client.get(ConfigMap, key))
  })
})
