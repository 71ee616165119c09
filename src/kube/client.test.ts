/** What the client does on the wire, against a bare HTTP server that misbehaves as told. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { fixedCredential } from './client-config.ts'
import type { ClientConfig } from './client-config.ts'
import { createClient } from './client.ts'
import type { Client, ClientOptions } from './client.ts'
import { ApiError, ConnectionError, isAlreadyExists, isConflict } from './errors.ts'
import type { Call } from './interceptor.ts'
import { ConfigMap, Pod } from './resources.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

interface Wire {
  readonly client: Client
  readonly requests: IncomingMessage[]
  readonly sockets: Set<Socket>
}

const key = { namespace: 'ns', name: 'x' }
const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }

/** Answers the first request with the first answer and so on, the last one for all that follow. */
async function wire(
  t: TestContext,
  answers: Answer[],
  config: Partial<ClientConfig> = {},
  options: ClientOptions = {},
): Promise<Wire> {
  const requests: IncomingMessage[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    requests.push(request)
    request.resume()
    request.on('end', () => answers[Math.min(requests.length, answers.length) - 1]?.(response, request))
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = createClient(
    {
      server: `http://127.0.0.1:${port}`,
      namespace: 'ns',
      credentials: fixedCredential({}),
      ...config,
      ...based(config, port),
    },
    options,
  )
  t.after(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, requests, sockets }
}

function based({ server }: Partial<ClientConfig>, port: number): { server?: string } {
  return server === undefined ? {} : { server: server.replace('PORT', String(port)) }
}

const ok: Answer = (response) => json(response, 200, object)
const reset: Answer = (response) => response.socket?.resetAndDestroy()
const silence: Answer = () => {}

function json(response: ServerResponse, code: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function refuse(code: number, reason: string, headers: Record<string, string> = {}): Answer {
  return (response) => json(response, code, { kind: 'Status', code, reason, message: 'told to' }, headers)
}

describe('calls', () => {
  test('share kept-alive connections', async (t) => {
    const { client, sockets } = await wire(t, [ok])
    for (let turn = 0; turn < 50; turn++) await client.get(ConfigMap, key)
    assert.ok(sockets.size <= 2)
  })

  test('use a bounded number of connections, and streams have their own', async (t) => {
    const begin: Answer = (response) => response.writeHead(200).write('{"type":"BOOKMARK","object":{"metadata":{}}}\n')
    const answer: Answer = (response, request) => (request.url?.includes('watch=') ? begin : ok)(response, request)
    const { client, sockets } = await wire(t, [answer])
    const watches = Array.from({ length: 40 }, () => client.openWatch(ConfigMap)[Symbol.asyncIterator]())
    await Promise.all(watches.map((events) => events.next()))
    assert.equal(sockets.size, 40)
    await Promise.all(Array.from({ length: 100 }, () => client.get(ConfigMap, key)))
    assert.equal(sockets.size, 72)
    for (const events of watches) await events.return?.()
  })

  test('say who they are', async (t) => {
    const { client, requests } = await wire(
      t,
      [ok],
      { credentials: fixedCredential({ token: 'abc' }) },
      { userAgent: 'me/1' },
    )
    await client.get(ConfigMap, key)
    assert.equal(requests[0]?.headers.authorization, 'Bearer abc')
    assert.equal(requests[0]?.headers['user-agent'], 'me/1')
  })

  test('go below the path of the server', async (t) => {
    const { client, requests } = await wire(t, [ok], { server: 'http://127.0.0.1:PORT/k8s/clusters/c-1/' })
    await client.get(ConfigMap, key)
    assert.equal(requests[0]?.url, '/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps/x')
  })

  test('carry large bodies with any characters both ways', async (t) => {
    const text = '𝒂é\u0000"'.repeat(100_000)
    const { client } = await wire(t, [(response) => json(response, 200, { ...object, data: { text } })])
    assert.equal((await client.create(ConfigMap, { ...object, data: { text } })).data?.text, text)
  })

  test('fail with what a proxy in between says when it is no Status', async (t) => {
    const { client } = await wire(t, [(response) => response.writeHead(403).end('<html>no entry</html>')])
    await assert.rejects(client.get(ConfigMap, key), /403 Forbidden: <html>no entry/)
  })

  test('fail as a broken connection when the answer is not JSON', async (t) => {
    const { client } = await wire(t, [(response) => response.writeHead(200).end('<html>log in</html>')])
    await assert.rejects(client.get(ConfigMap, key), ConnectionError)
  })

  test('do not follow redirects', async (t) => {
    const { client } = await wire(t, [(response) => response.writeHead(302, { location: 'http://elsewhere/' }).end()])
    await assert.rejects(client.get(ConfigMap, key), { code: 302 })
  })

  test('never put a body into an error', async (t) => {
    const { client } = await wire(t, [refuse(422, 'Invalid')])
    await assert.rejects(client.create(ConfigMap, { ...object, data: { password: 'hunter2' } }), (error: ApiError) => {
      assert.ok(!JSON.stringify(error).includes('hunter2'))
      return true
    })
  })
})

describe('a call is repeated', () => {
  test('after 429, not before the time the server named', async (t) => {
    const { client, requests } = await wire(t, [refuse(429, 'TooManyRequests', { 'retry-after': '1' }), ok])
    const began = performance.now()
    await client.get(ConfigMap, key)
    assert.ok(performance.now() - began >= 1_000)
    assert.equal(requests.length, 2)
  })

  test('after 5xx and resets', async (t) => {
    const { client, requests } = await wire(t, [
      refuse(503, 'ServiceUnavailable'),
      reset,
      refuse(500, 'InternalError'),
      ok,
    ])
    await client.get(ConfigMap, key)
    assert.equal(requests.length, 4)
  })

  test('after an answer that was cut off', async (t) => {
    const half: Answer = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"kind":')
      setImmediate(() => response.socket?.resetAndDestroy())
    }
    const { client } = await wire(t, [half, ok])
    assert.equal((await client.get(ConfigMap, key)).kind, 'ConfigMap')
  })

  test('when a change raced with another, unless it asked to be told', async (t) => {
    const racing = await wire(t, [refuse(409, 'Conflict'), ok])
    await racing.client.patch(ConfigMap, key, { data: { a: '1' } })
    assert.equal(racing.requests.length, 2)

    const asking = await wire(t, [refuse(409, 'Conflict'), ok])
    await assert.rejects(asking.client.patch(ConfigMap, key, { metadata: { resourceVersion: '7' } }), isConflict)
    await assert.rejects(
      (await wire(t, [refuse(409, 'Conflict'), ok])).client.delete(ConfigMap, key, { uid: 'u' }),
      isConflict,
    )
    assert.equal(asking.requests.length, 1)
  })

  test('after a lost reply to a create, and what it then finds is said plainly', async (t) => {
    const { client, requests } = await wire(t, [reset, refuse(409, 'AlreadyExists')])
    await assert.rejects(client.create(ConfigMap, object), isAlreadyExists)
    assert.equal(requests.length, 2)
  })

  test('a limited number of times', async (t) => {
    const { client, requests } = await wire(t, [refuse(503, 'ServiceUnavailable')])
    await assert.rejects(client.get(ConfigMap, key), { code: 503 })
    assert.equal(requests.length, 5)
  })

  test('within the budget all calls share', async (t) => {
    const { client, requests } = await wire(t, [refuse(503, 'ServiceUnavailable')])
    const calls = Array.from({ length: 100 }, () => client.get(ConfigMap, key))
    const results = await Promise.allSettled(calls)
    assert.ok(results.every(({ status }) => status === 'rejected'))
    assert.ok(requests.length < 200, `${requests.length} requests for 100 calls`)
  })

  test('but not when that could do it twice', async (t) => {
    const { client, requests } = await wire(t, [reset])
    const unnamed = { ...object, metadata: { namespace: 'ns', generateName: 'x-' } } as unknown as ConfigMap
    await assert.rejects(client.create(ConfigMap, unnamed), ConnectionError)
    await assert.rejects(client.delete(ConfigMap, key), ConnectionError)
    await assert.rejects(client.request({ method: 'POST', path: '/apis', body: {} }), ConnectionError)
    assert.equal(requests.length, 3)
  })

  test('but not an eviction that a disruption budget forbids', async (t) => {
    const details = { causes: [{ reason: 'DisruptionBudget' }] }
    const { client, requests } = await wire(t, [
      (response) => json(response, 429, { kind: 'Status', code: 429, reason: 'TooManyRequests', details }),
    ])
    await assert.rejects(client.evict(key), { code: 429 })
    assert.equal(requests.length, 1)
  })

  test('by the watch itself, never by the client', async (t) => {
    const { client, requests } = await wire(t, [refuse(503, 'ServiceUnavailable')])
    await assert.rejects(
      async () => {
        for await (const event of client.openWatch(ConfigMap)) assert.fail(event.type)
      },
      { code: 503 },
    )
    assert.equal(requests.length, 1)
  })
})

describe('a call ends', () => {
  test('when its time is up', async (t) => {
    const { client } = await wire(t, [silence])
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 100 }), (error: ConnectionError) => {
      assert.ok(error instanceof ConnectionError)
      assert.match(error.message, /no complete answer within \d+ ms/)
      return true
    })
  })

  test('at once when the caller gives up, and its connection with it', async (t) => {
    const { client, requests, sockets } = await wire(t, [silence])
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

  test('before it began when the caller had already given up', async (t) => {
    const { client, requests } = await wire(t, [ok])
    await assert.rejects(client.get(ConfigMap, key, { signal: AbortSignal.abort(new Error('no')) }), /^Error: no$/)
    assert.equal(requests.length, 0)
  })

  test('when the caller gives up while waiting to repeat it', async (t) => {
    const { client, requests } = await wire(t, [refuse(429, 'TooManyRequests', { 'retry-after': '100' })])
    const caller = new AbortController()
    const call = client.get(ConfigMap, key, { signal: caller.signal, timeoutMs: 1e6 })
    while (requests.length === 0) await new Promise(setImmediate)
    setTimeout(() => caller.abort(new Error('enough')), 20)
    await assert.rejects(call, /^Error: enough$/)
  })

  test('without waiting when the server asks for more time than there is', async (t) => {
    const { client, requests } = await wire(t, [refuse(429, 'TooManyRequests', { 'retry-after': '100' })])
    await assert.rejects(client.get(ConfigMap, key), { code: 429, retryAfterMs: 100_000 })
    assert.equal(requests.length, 1)
  })

  test('after the client was closed', async (t) => {
    const { client } = await wire(t, [silence])
    const call = client.get(ConfigMap, key)
    await client.close()
    await assert.rejects(call)
    await assert.rejects(client.get(ConfigMap, key), /the client is closed/)
  })

  test('when the client is closed, even on connections it had let go of', async (t) => {
    const begin: Answer = (response) => response.writeHead(200).write('one\n')
    const answer: Answer = (response, request) => (request.url?.includes('log') ? begin : silence)(response, request)
    const { client } = await wire(t, [answer])
    const log = client.streamLogs(key)[Symbol.asyncIterator]()
    await log.next()
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 50 }), ConnectionError)
    const end = assert.rejects(log.next())
    await client.close()
    await end
  })

  test('with an error, not a hang, when the request cannot even be written', async (t) => {
    const { client } = await wire(t, [ok], { credentials: fixedCredential({ token: 'two\nlines' }) })
    await assert.rejects(client.get(ConfigMap, key))
  })
})

describe('after a timeout', () => {
  test('the next call does not wait on the same dead connections', async (t) => {
    let silent = false
    const { client, requests, sockets } = await wire(t, [(response) => silent || ok(response, response.req)])
    await Promise.all(Array.from({ length: 8 }, () => client.get(ConfigMap, key)))
    const old = new Set(sockets)
    silent = true
    await assert.rejects(client.get(ConfigMap, key, { timeoutMs: 50 }), ConnectionError)
    silent = false
    await client.get(ConfigMap, key)
    assert.ok(!old.has(requests.at(-1)?.socket as Socket))
  })
})

describe('a 401', () => {
  test('makes the credential be looked up again, and the call be repeated at once', async (t) => {
    const tokens = ['old', 'new']
    let held = { token: tokens.shift() ?? '' }
    const credentials = (rejected?: object) => {
      if (rejected === held) held = { token: tokens.shift() ?? held.token }
      return Promise.resolve(held)
    }
    const answer: Answer = (response, request) =>
      (request.headers.authorization === 'Bearer new' ? ok : refuse(401, 'Unauthorized'))(response, request)
    const { client, requests } = await wire(t, [answer], { credentials })
    await client.create(ConfigMap, object)
    assert.equal(requests.length, 2)
  })

  test('is final when there is no other credential', async (t) => {
    const { client, requests } = await wire(t, [refuse(401, 'Unauthorized')], {
      credentials: fixedCredential({ token: 'x' }),
    })
    await assert.rejects(client.get(ConfigMap, key), { code: 401 })
    assert.equal(requests.length, 1)
  })

  test('is final when the other credential is refused as well', async (t) => {
    let count = 0
    const { client, requests } = await wire(t, [refuse(401, 'Unauthorized')], {
      credentials: () => Promise.resolve({ token: `${count++}` }),
    })
    await assert.rejects(client.get(ConfigMap, key), { code: 401 })
    assert.equal(requests.length, 2)
  })
})

describe('interceptors', () => {
  test('see every attempt, the first of the list outermost', async (t) => {
    const seen: string[] = []
    const named = (name: string) => async (call: Call, next: (call: Call) => Promise<{ status: number }>) => {
      seen.push(`${name} ${call.verb} ${call.attempt}`)
      const response = (await next(call)) as never
      seen.push(`${name} ${(response as { status: number }).status}`)
      return response
    }
    const { client } = await wire(
      t,
      [refuse(503, 'ServiceUnavailable'), ok],
      {},
      { interceptors: [named('a'), named('b')] },
    )
    await client.get(ConfigMap, key)
    assert.deepEqual(seen, ['a get 1', 'b get 1', 'b 503', 'a 503', 'a get 2', 'b get 2', 'b 200', 'a 200'])
  })

  test('may answer in the place of the server', async (t) => {
    const { client, requests } = await wire(
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

describe('streams', () => {
  test('give lines as they come and end with the server', async (t) => {
    const { client } = await wire(t, [(response) => response.writeHead(200).end('one\ntwo\nthree')])
    const seen: string[] = []
    for await (const line of client.streamLogs(key, { follow: true })) seen.push(line)
    assert.deepEqual(seen, ['one', 'two', 'three'])
  })

  test('fail when the connection breaks in between', async (t) => {
    const { client } = await wire(t, [
      (response) => {
        response.writeHead(200).write('one\n')
        setImmediate(() => response.socket?.resetAndDestroy())
      },
    ])
    const seen: string[] = []
    await assert.rejects(async () => {
      for await (const line of client.streamLogs(key)) seen.push(line)
    }, ConnectionError)
  })

  test('close their connection when the reader leaves', async (t) => {
    const { client, sockets } = await wire(t, [(response) => response.writeHead(200).write('one\n')])
    let closed: Promise<unknown> | undefined
    for await (const line of client.streamLogs(key)) {
      assert.equal(line, 'one')
      closed = once([...sockets][0] as Socket, 'close')
      break
    }
    await closed
  })

  test('slow down a server that is faster than the reader', async (t) => {
    let written = 0
    const flood: Answer = (response) => {
      response.writeHead(200)
      const chunk = `${'x'.repeat(65_535)}\n`
      const more = () => {
        while (written < 1_000) {
          written += 1
          if (!response.write(chunk)) {
            response.once('drain', more)
            return
          }
        }
        response.end()
      }
      more()
    }
    const { client } = await wire(t, [flood])
    let lines = 0
    for await (const line of client.streamLogs(key)) {
      lines += line === '' ? 0 : 1
      if (lines === 1) {
        for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
        assert.ok(written < 900, `${written} chunks written while the reader slept`)
      }
    }
    assert.equal(lines, 1_000)
  })
})

describe('lists', () => {
  const page =
    (names: string[], token?: string): Answer =>
    (response) =>
      json(response, 200, {
        metadata: { resourceVersion: '9', continue: token },
        items: names.map((name) => ({ metadata: { name } })),
      })

  test('follow their pages, and every object knows its kind', async (t) => {
    const { client, requests } = await wire(t, [page(['a', 'b'], 'more'), page(['c'])])
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
    const { client } = await wire(t, [
      (response) => json(response, 200, { metadata: { resourceVersion: '9' }, items: null }),
    ])
    assert.deepEqual(await client.list(Pod), { items: [], resourceVersion: '9' })
  })
})
