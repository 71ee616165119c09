import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Agent, request } from 'node:https'
import { type AddressInfo, connect as connectPlain } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { createCa, issue } from '../kube/x509.ts'
import { type ConversionServer, startConversionServer } from './conversion-server.ts'
import { until } from '../../test/timing/until.ts'
import { type IntakeLimits, ReviewIntake } from './review-intake.ts'
import { ReviewThread } from './review-thread.ts'

const notAfter = new Date(Date.now() + 3_600_000)
const ca = createCa({ commonName: 'test', notAfter })
const leaf = (commonName: string) => issue(ca, { commonName, dnsNames: ['localhost'], usages: ['server'], notAfter })

async function start(t: TestContext, limits?: IntakeLimits): Promise<ConversionServer> {
  const server = await startConversionServer({ port: 0, host: '127.0.0.1' }, limits)
  t.after(() => server.close())
  return server
}

interface Reply {
  readonly status: number | undefined
  readonly body: string
  /** Common name of the certificate that the server showed. */
  readonly shown: unknown
}

function call(
  port: number,
  { method = 'POST', path = '/convert', body = '{}', agent = new Agent() } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path, agent, ca: ca.cert, servername: 'localhost' },
      (response) => {
        const shown = (response.socket as TLSSocket).getPeerCertificate().subject.CN // eslint-disable-line typescript/no-unsafe-type-assertion -- https uses TLS sockets
        text(response).then((reply) => resolve({ status: response.statusCode, body: reply, shown }), reject)
      },
    )
    outgoing.on('error', reject).end(method === 'POST' ? body : undefined)
  })
}

test('rejects connections without a certificate, and answers reviews with one', async (t) => {
  const server = await start(t)
  await assert.rejects(call(server.port))
  server.useCertificate(leaf('first'))
  const { status, body } = await call(server.port, { body: JSON.stringify({ request: { uid: 'u' } }) })
  assert.equal(status, 200)
  assert.equal(JSON.parse(body).response.uid, 'u')
})

test('new connections use a new certificate, and old ones end after their next response', async (t) => {
  const server = await start(t)
  server.useCertificate(leaf('first'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  assert.equal((await call(server.port, { agent })).shown, 'first')
  server.useCertificate(leaf('second'))
  assert.equal((await call(server.port, { agent })).shown, 'first')
  assert.equal((await call(server.port, { agent })).shown, 'second')
})

test('rejects anything but a review in JSON, with a message', async (t) => {
  const server = await start(t)
  server.useCertificate(leaf('first'))
  assert.equal((await call(server.port, { path: '/' })).status, 404)
  assert.equal((await call(server.port, { method: 'GET' })).status, 405)
  assert.deepEqual(await call(server.port, { body: '{' }), {
    status: 400,
    body: '{"message":"the body is not JSON"}',
    shown: 'first',
  })
})

/** Sends bytes as they are over TLS and collects the answer. */
async function send(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' })
  await once(socket, 'secureConnect')
  socket.write(bytes)
  return text(socket)
}

for (const target of ['//', 'http://[', '/convert\\..', '*', '//[::1', 'https://%zz/', '/%', '///@:']) {
  test(`answers a request for ${target}`, async (t) => {
    const server = await start(t)
    server.useCertificate(leaf('first'))
    const head = `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    assert.match(await send(server.port, head), /^HTTP\/1\.1 4\d\d /)
    assert.equal((await call(server.port)).status, 200)
  })
}

test('closing waits for running requests, not for idle connections', async () => {
  const server = await startConversionServer({ port: 0, host: '127.0.0.1' })
  server.useCertificate(leaf('first'))
  const place = { port: server.port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' }
  const silent = connect(place)
  await once(silent, 'secureConnect')
  const slow = request({ ...place, method: 'POST', path: '/convert', headers: { expect: '100-continue' } })
  slow.flushHeaders()
  await once(slow, 'continue')

  const closing = server.close()
  slow.end('{}')
  const [response] = await once(slow, 'response')
  assert.match(await text(response), /ConversionReview/)
  await Promise.all([closing, once(silent, 'close')])
})

/** What a page of a list looks like: 500 jobs with managed fields and a status. */
function page(): string {
  const managed = { 'f:spec': Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f:field${i}`, {}])) }
  const job = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata: { name: 'job', managedFields: [{ manager: 'kubectl', fieldsV1: managed }] },
    spec: {
      framework: 'pytorch',
      image: 'i',
      command: ['c'],
      numWorkers: 8,
      env: Array.from({ length: 100 }, (_, i) => ({ name: `NAME_${i}`, value: 'x'.repeat(190) })),
    },
  }
  const objects = Array.from({ length: 500 }, () => job)
  return JSON.stringify({ request: { uid: 'u', desiredAPIVersion: 'ml.example.com/v1alpha1', objects } })
}

test('converts a page of 500 large jobs in one review', async (t) => {
  const server = await start(t)
  server.useCertificate(leaf('first'))
  const body = page()
  assert.ok(body.length > 11 * 2 ** 20 && body.length < 12 * 2 ** 20, `${body.length}`)
  const reply = await call(server.port, { body })
  assert.equal(reply.status, 200, reply.body.slice(0, 200))
  assert.equal(JSON.parse(reply.body).response.convertedObjects.length, 500)
})

const post = (headers: string) => `POST /convert HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`

test('rejects a body that is declared too large before it is sent', async (t) => {
  const server = await start(t)
  server.useCertificate(leaf('first'))
  const reply = await send(server.port, post(`content-length: ${250 * 2 ** 20}`))
  assert.match(reply, /^HTTP\/1\.1 413 /)
  assert.match(reply, /larger than 12582912 bytes: list fewer objects/)
})

test('rejects a body without a declared length when it becomes too large', async (t) => {
  const server = await start(t, { bodyBytes: 1_000, totalBytes: 10_000, reviews: 10 })
  server.useCertificate(leaf('first'))
  const chunk = `100\r\n${'x'.repeat(256)}\r\n`
  assert.match(await send(server.port, post('transfer-encoding: chunked') + chunk.repeat(5)), /^HTTP\/1\.1 413 /)
})

test('rejects a slow body in favour of a newer one', async (t) => {
  const server = await start(t, { bodyBytes: 1_000, totalBytes: 1_500, reviews: 10 })
  server.useCertificate(leaf('first'))
  const lingering = connect({ port: server.port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' })
  await once(lingering, 'secureConnect')
  lingering.write(post('content-length: 1000') + 'x'.repeat(900))
  const refused = text(lingering)
  const body = JSON.stringify({ request: { uid: 'u'.repeat(800) } })
  let replies = 0
  while (!lingering.readableEnded) replies += (await call(server.port, { body })).status === 200 ? 1 : 0
  assert.match(await refused, /^HTTP\/1\.1 503 /)
  assert.ok(replies > 0)
})

test('limits concurrent reviews', async (t) => {
  const server = await start(t, { bodyBytes: 1_000, totalBytes: 10_000, reviews: 1 })
  server.useCertificate(leaf('first'))
  const slow = connect({ port: server.port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' })
  await once(slow, 'secureConnect')
  slow.write(post('content-length: 10\r\nexpect: 100-continue'))
  await once(slow, 'data')
  assert.equal((await call(server.port)).status, 503)
  slow.destroy()
})

test('does not convert a review whose client has disconnected, but counts it until it has left the queue', async (t) => {
  const intake = new ReviewIntake({ bodyBytes: 1_000, totalBytes: 1_000, reviews: 10 })
  let done: (() => void) | undefined
  const server = createServer((incoming, response) => {
    void intake.take(incoming, response, () => new Promise<void>((resolve) => (done = resolve)))
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connectPlain(port, '127.0.0.1')
  client.write(post('content-length: 9') + '123456789')
  const [, response] = await once(server, 'request')
  await until('the body is read', () => done !== undefined)
  client.destroy()
  await once(response, 'close')
  assert.equal(intake.heldBytes, 9)
  done?.()
  await until('the body is released', () => intake.heldBytes === 0)

  const thread = new ReviewThread()
  t.after(() => thread.close())
  const { status } = await thread.convert(new Uint8Array(9), () => false)
  assert.equal(status, 503)
})
