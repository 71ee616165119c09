import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { createCa, issue } from '../kube/x509.ts'
import { type ConversionServer, startConversionServer } from './conversion-server.ts'

const notAfter = new Date(Date.now() + 3_600_000)
const ca = createCa({ commonName: 'test', notAfter })
const leaf = (commonName: string) => issue(ca, { commonName, dnsNames: ['localhost'], usages: ['server'], notAfter })

async function start(t: TestContext): Promise<ConversionServer> {
  const server = await startConversionServer({ port: 0, host: '127.0.0.1' })
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

test('without a certificate nobody gets in; with one, reviews are answered', async (t) => {
  const server = await start(t)
  await assert.rejects(call(server.port))
  server.useCertificate(leaf('first'))
  const { status, body } = await call(server.port, { body: JSON.stringify({ request: { uid: 'u' } }) })
  assert.equal(status, 200)
  assert.equal(JSON.parse(body).response.uid, 'u')
})

test('a new certificate is shown to new connections, and the old ones end after their next answer', async (t) => {
  const server = await start(t)
  server.useCertificate(leaf('first'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  assert.equal((await call(server.port, { agent })).shown, 'first')
  server.useCertificate(leaf('second'))
  assert.equal((await call(server.port, { agent })).shown, 'first')
  assert.equal((await call(server.port, { agent })).shown, 'second')
})

test('anything but a review in JSON is refused in words', async (t) => {
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

test('closing waits for answers under way, and for nobody else', async () => {
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
