/** One health check against real servers, well-behaved and hostile: only the status line counts, and every check ends. */
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { checkHealth, type HealthResult } from './health-request.ts'

async function listening(t: TestContext, answer: (socket: Socket, request: string) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (data) => answer(socket, data.toString('latin1')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const check = (port: number, { path = '/health', timeoutMs = 60_000 } = {}): Promise<HealthResult> =>
  checkHealth({ address: '127.0.0.1', port, path, timeoutMs })

const failed = (answer: string): HealthResult => ({ outcome: 'failed', answer })
const PASSED: HealthResult = { outcome: 'passed' }
const UNREACHABLE: HealthResult = { outcome: 'unreachable' }
const never = { timeoutMs: 300 }
/** More than all buffers between the two. */
const MAX_FLOOD = 64 * 1024 * 1024

/** Writes until the peer hangs up, which has to be soon. */
function flood(socket: Socket, chunk: string): void {
  assert.ok(socket.bytesWritten < MAX_FLOOD, 'the answer is read to its end')
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => flood(socket, chunk))
}

interface Case {
  readonly name: string
  readonly answer: (socket: Socket, request: string) => void
  readonly want: HealthResult
  readonly options?: { readonly timeoutMs: number }
}

const cases: readonly Case[] = [
  { name: '200', answer: (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), want: PASSED },
  { name: '204 of HTTP/1.0', answer: (s) => s.end('HTTP/1.0 204 No Content\r\n\r\n'), want: PASSED },
  {
    name: 'a redirect, which is not followed',
    answer: (s) => s.end('HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\n\r\n'),
    want: PASSED,
  },
  { name: '500', answer: (s) => s.end('HTTP/1.1 500 Oops\r\n\r\nsecret'), want: failed('answered HTTP 500') },
  { name: '404', answer: (s) => s.end('HTTP/1.1 404 Not Found\r\n\r\n'), want: failed('answered HTTP 404') },
  {
    name: 'a status line in single bytes',
    answer: (s) => {
      s.setNoDelay(true)
      const bytes = 'HTTP/1.1 200 OK\r\n\r\n'.split('')
      const next = (): void => {
        const byte = bytes.shift()
        if (byte === undefined) s.end()
        else s.write(byte, () => setImmediate(next))
      }
      next()
    },
    want: PASSED,
  },
  { name: 'endless headers', answer: (s) => flood(s, `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(9_000)}\r\n`), want: PASSED },
  {
    name: 'an endless body',
    answer: (s) => flood(s, `HTTP/1.1 503 No\r\n\r\n${'x'.repeat(65_536)}`),
    want: failed('answered HTTP 503'),
  },
  { name: 'garbage', answer: (s) => s.end(Buffer.alloc(512, 0xff)), want: failed('gave no HTTP answer') },
  { name: 'half a status line', answer: (s) => s.end('HTTP/1.'), want: failed('gave no HTTP answer') },
  { name: 'another protocol', answer: (s) => s.end('SSH-2.0-OpenSSH_9.6\r\n'), want: failed('gave no HTTP answer') },
  {
    name: 'a number that is no status',
    answer: (s) => s.end('HTTP/1.1 999 X\r\n\r\n'),
    want: failed('gave no HTTP answer'),
  },
  { name: 'an end without an answer', answer: (s) => s.end(), want: failed('closed the connection') },
  { name: 'a reset', answer: (s) => s.resetAndDestroy(), want: failed('closed the connection') },
  { name: 'silence', answer: () => undefined, want: failed('did not answer in time'), options: never },
  { name: 'a status and then silence', answer: (s) => s.write('HTTP/1.1 200 OK\r\n'), want: PASSED, options: never },
]

describe('a health check of a pod that answers with', () => {
  for (const { name, answer, want, options } of cases)
    test(name, async (t) => {
      const port = await listening(t, answer)
      assert.deepEqual(await check(port, options), want)
    })
})

test('a closed port says nothing about the pod', async (t) => {
  const port = await listening(t, () => undefined)
  const free = createServer()
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
  const { port: closed } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  assert.notEqual(port, closed)
  assert.deepEqual(await check(closed), UNREACHABLE)
})

test('a path that cannot be a request line is not sent', async (t) => {
  let requests = 0
  const port = await listening(t, () => (requests += 1))
  for (const path of ['/a b', '/a\r\nHost: x', 'health', '', '/ä', '/\u0000'])
    assert.deepEqual(await check(port, { path, ...never }), UNREACHABLE, path)
  assert.equal(requests, 0)
})

test('an ordinary HTTP server gets one GET of the path', async (t) => {
  const seen: (string | undefined)[] = []
  const server = createHttpServer((request, response) => {
    seen.push(request.method, request.url, request.headers.connection)
    response.end('fine')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  assert.deepEqual(await check((server.address() as AddressInfo).port, { path: '/v2/models/iris/ready' }), PASSED)
  assert.deepEqual(seen, ['GET', '/v2/models/iris/ready', 'close'])
})
