/** The client against a bare HTTP server. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json, key, object, ok, reject, type Respond, scriptedServer } from '../../test/fakes/scripted-server.ts'
import { fixedCredential } from './client-config.ts'
import { ApiError, ConnectionError } from './errors.ts'
import { type Call } from './interceptor.ts'
import { ConfigMap, Pod } from './resources.ts'

describe('calls', () => {
  test('share kept-alive connections', async (t) => {
    const { client, sockets } = await scriptedServer(t, [ok])
    for (let turn = 0; turn < 50; turn++) await client.get(ConfigMap, key)
    assert.ok(sockets.size <= 2)
  })

  test('use a bounded number of connections, and streams have their own', async (t) => {
    const begin: Respond = (response) => response.writeHead(200).write('{"type":"BOOKMARK","object":{"metadata":{}}}\n')
    const answer: Respond = (response, request) => (request.url?.includes('watch=') ? begin : ok)(response, request)
    const { client, sockets } = await scriptedServer(t, [answer])
    const watches = Array.from({ length: 40 }, () => client.openWatch(ConfigMap)[Symbol.asyncIterator]())
    await Promise.all(watches.map((events) => events.next()))
    assert.equal(sockets.size, 40)
    await Promise.all(Array.from({ length: 100 }, () => client.get(ConfigMap, key)))
    assert.equal(sockets.size, 72)
    for (const events of watches) await events.return?.()
  })

  test('have a user agent and a token', async (t) => {
    const { client, requests } = await scriptedServer(
      t,
      [ok],
      { credentials: fixedCredential({ token: 'abc' }) },
      { userAgent: 'me/1' },
    )
    await client.get(ConfigMap, key)
    assert.equal(requests[0]?.headers.authorization, 'Bearer abc')
    assert.equal(requests[0]?.headers['user-agent'], 'me/1')
  })

  test('use the base path of the server', async (t) => {
    const { client, requests } = await scriptedServer(t, [ok], { server: 'http://127.0.0.1:PORT/k8s/clusters/c-1/' })
    await client.get(ConfigMap, key)
    assert.equal(requests[0]?.url, '/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps/x')
  })

  test('send and receive large bodies with any characters', async (t) => {
    const text = '𝒂é\u0000"'.repeat(100_000)
    const { client } = await scriptedServer(t, [(response) => json(response, 200, { ...object, data: { text } })])
    assert.equal((await client.create(ConfigMap, { ...object, data: { text } })).data?.text, text)
  })

  test('fail with the text of a proxy that sends no Status', async (t) => {
    const { client } = await scriptedServer(t, [(response) => response.writeHead(403).end('<html>no entry</html>')])
    await assert.rejects(client.get(ConfigMap, key), /403 Forbidden: <html>no entry/)
  })

  test('fail with a ConnectionError if the response is not JSON', async (t) => {
    const { client } = await scriptedServer(t, [(response) => response.writeHead(200).end('<html>log in</html>')])
    await assert.rejects(client.get(ConfigMap, key), ConnectionError)
  })

  test('do not follow redirects', async (t) => {
    const { client } = await scriptedServer(t, [
      (response) => response.writeHead(302, { location: 'http://elsewhere/' }).end(),
    ])
    await assert.rejects(client.get(ConfigMap, key), { code: 302 })
  })

  test('never put a body into an error', async (t) => {
    const { client } = await scriptedServer(t, [reject(422, 'Invalid')])
    await assert.rejects(client.create(ConfigMap, { ...object, data: { password: 'hunter2' } }), (error: ApiError) => {
      assert.ok(!JSON.stringify(error).includes('hunter2'))
      return true
    })
  })
})

describe('a 401', () => {
  test('reloads the credential and repeats the call at once', async (t) => {
    const tokens = ['old', 'new']
    let held = { token: tokens.shift() ?? '' }
    const credentials = (rejected?: object) => {
      if (rejected === held) held = { token: tokens.shift() ?? held.token }
      return Promise.resolve(held)
    }
    const answer: Respond = (response, request) =>
      (request.headers.authorization === 'Bearer new' ? ok : reject(401, 'Unauthorized'))(response, request)
    const { client, requests } = await scriptedServer(t, [answer], { credentials })
    await client.create(ConfigMap, object)
    assert.equal(requests.length, 2)
  })

  test('is final if there is no other credential', async (t) => {
    const { client, requests } = await scriptedServer(t, [reject(401, 'Unauthorized')], {
      credentials: fixedCredential({ token: 'x' }),
    })
    await assert.rejects(client.get(ConfigMap, key), { code: 401 })
    assert.equal(requests.length, 1)
  })

  test('is final if the other credential is rejected too', async (t) => {
    let count = 0
    const { client, requests } = await scriptedServer(t, [reject(401, 'Unauthorized')], {
      credentials: () => Promise.resolve({ token: `${count++}` }),
    })
    await assert.rejects(client.get(ConfigMap, key), { code: 401 })
    assert.equal(requests.length, 2)
  })
})

describe('interceptors', () => {
  test('run for every attempt, the first of the list outermost', async (t) => {
    const seen: string[] = []
    const named = (name: string) => async (call: Call, next: (call: Call) => Promise<{ status: number }>) => {
      seen.push(`${name} ${call.verb} ${call.attempt}`)
      const response = (await next(call)) as never
      seen.push(`${name} ${(response as { status: number }).status}`)
      return response
    }
    const { client } = await scriptedServer(
      t,
      [reject(503, 'ServiceUnavailable'), ok],
      {},
      { interceptors: [named('a'), named('b')] },
    )
    await client.get(ConfigMap, key)
    assert.deepEqual(seen, ['a get 1', 'b get 1', 'b 503', 'a 503', 'a get 2', 'b get 2', 'b 200', 'a 200'])
  })

  test('may respond instead of the server', async (t) => {
    const { client, requests } = await scriptedServer(
      t,
      [ok],
      {},
      {
        interceptors: [() => Promise.resolve({ status: 404, headers: {}, body: '' })],
      },
    )
    await client.delete(ConfigMap, key)
    await assert.rejects(client.get(ConfigMap, key), { code: 404, reason: 'NotFound' })
    assert.equal(requests.length, 0)
  })
})

describe('lists', () => {
  const page =
    (names: string[], token?: string): Respond =>
    (response) =>
      json(response, 200, {
        metadata: { resourceVersion: '9', continue: token },
        items: names.map((name) => ({ metadata: { name } })),
      })

  test('follow their pages, and every object has its kind', async (t) => {
    const { client, requests } = await scriptedServer(t, [page(['a', 'b'], 'more'), page(['c'])])
    const { items, resourceVersion } = await client.list(Pod, { limit: 2 })
    assert.deepEqual(
      items.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`),
      ['v1 Pod a', 'v1 Pod b', 'v1 Pod c'],
    )
    assert.equal(resourceVersion, '9')
    assert.deepEqual(
      requests.map(({ url }) => url),
      ['/api/v1/pods?limit=2', '/api/v1/pods?limit=2&continue=more'],
    )
  })

  test('may be empty', async (t) => {
    const { client } = await scriptedServer(t, [
      (response) => json(response, 200, { metadata: { resourceVersion: '9' }, items: null }),
    ])
    assert.deepEqual(await client.list(Pod), { items: [], resourceVersion: '9' })
  })
})
