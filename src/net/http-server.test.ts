import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { limitConnections } from './connection-limit.ts'
import { answerRequests, closeServer, type Handler, HTTP_LIMITS, pathOf } from './http-server.ts'
import { listen } from './listening.ts'

async function serving(t: TestContext, handler: Handler): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(HTTP_LIMITS)
  answerRequests(server, handler)
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  t.after(() => closeServer(server))
  return { server, port }
}

async function opened(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n'

test('a handler that throws answers its own request with 500', async (t) => {
  const { port } = await serving(t, (request) => {
    if (pathOf(request) === '/throws') throw new Error('boom')
    return request.url === '/rejects' ? Promise.reject(new Error('later')) : { status: 200, body: 'ok' }
  })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return [response.status, await response.text()]
  }
  assert.deepEqual(await get('/throws?x'), [500, 'boom\n'])
  assert.deepEqual(await get('/rejects'), [500, 'later\n'])
  assert.deepEqual(await get('/'), [200, 'ok'])
})

test('a client that disconnects during its request does not affect others', async (t) => {
  let release: (() => void) | undefined
  const { server, port } = await serving(t, async () => {
    await new Promise<void>((resolve) => (release = resolve))
    return { status: 200, body: 'x'.repeat(100_000) }
  })
  const socket = await opened(t, port)
  socket.write(`${GET}\r\n`)
  const [, response] = await once(server, 'request')
  socket.resetAndDestroy()
  await once(response, 'close')
  release?.()
  const answer = fetch(`http://127.0.0.1:${port}/`)
  await once(server, 'request')
  release?.()
  assert.equal((await answer).status, 200)
})

test('requests on one connection are limited', async (t) => {
  const { port } = await serving(t, () => ({ status: 200, body: 'ok' }))
  const socket = await opened(t, port)
  socket.end(`${GET}\r\n`.repeat(200))
  const answers = (await text(socket)).match(/^HTTP\/1\.1 200/gm)
  assert.equal(answers?.length, 100)
})

test('at the limit, the oldest idle connection is closed', async (t) => {
  const server = createServer()
  limitConnections(server, 2)
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  t.after(() => closeServer(server))
  const busy = await opened(t, port)
  busy.write(`${GET}\r\n`)
  const [, response] = await once(server, 'request')
  const idle = await opened(t, port)
  const arrival = once(server, 'connection')
  const third = await opened(t, port)
  await arrival
  idle.write(`${GET}\r\n`)
  const served = once(server, 'request').then(() => 'served')
  assert.equal(await Promise.race([once(idle, 'close').then(() => 'closed'), served]), 'closed')
  assert.equal(busy.destroyed || third.destroyed, false)
  response.end('ok')
  assert.match(String((await once(busy, 'data'))[0]), /200 OK/)
})
