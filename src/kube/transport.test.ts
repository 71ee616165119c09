/** Certificates and proxies, over real TLS on loopback. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { fixedCredential } from './client-config.ts'
import type { ClientConfig, Credential } from './client-config.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import { credentialFiles } from './credential-files.ts'
import { ConnectionError } from './errors.ts'
import { createCa, issue } from './x509.ts'

const notAfter = new Date(Date.now() + 3_600_000)
const ca = createCa({ commonName: 'ca', notAfter })
const served = issue(ca, { commonName: 'server', dnsNames: ['kubernetes'], usages: ['server'], notAfter })
const clientOf = (commonName: string) => issue(ca, { commonName, usages: ['client'], notAfter })

async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** An HTTPS server that answers with the common name of whoever asks. */
async function whoami(t: TestContext): Promise<string> {
  const server = createServer(
    { ...served, ca: ca.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      response.setHeader('content-type', 'application/json').end(JSON.stringify(subject?.CN ?? 'nobody'))
    },
  )
  return `https://127.0.0.1:${await listening(t, server)}`
}

function connected(t: TestContext, config: Partial<ClientConfig> & { server: string }): Client {
  const client = createClient({ namespace: 'x', credentials: fixedCredential({}), ...config })
  t.after(() => client.close())
  return client
}

const ask = (client: Client) => client.request({ method: 'GET', path: '/whoami' })

test('authenticates by certificate, and expects tls-server-name', async (t) => {
  const server = await whoami(t)
  const credentials = fixedCredential(clientOf('alice'))
  assert.equal(await ask(connected(t, { server, ca: ca.cert, tlsServerName: 'kubernetes', credentials })), 'alice')
})

test('fails at once for an untrusted server, with a clear message', async (t) => {
  const server = await whoami(t)
  const strangers = createCa({ commonName: 'other', notAfter })
  for (const config of [
    { server },
    { server, ca: ca.cert },
    { server, ca: strangers.cert, tlsServerName: 'kubernetes' },
  ]) {
    const attempts: number[] = []
    const client = createClient(
      { namespace: 'x', credentials: fixedCredential({}), ...config },
      {
        interceptors: [
          (call, next) => {
            attempts.push(call.attempt)
            return next(call)
          },
        ],
      },
    )
    await assert.rejects(ask(client), (error: ConnectionError) => {
      assert.ok(error instanceof ConnectionError)
      assert.match(error.message, /certificate|altnames/)
      return true
    })
    assert.deepEqual(attempts, [1])
    await client.close()
  }
})

test('TLS verification can be disabled', async (t) => {
  assert.equal(await ask(connected(t, { server: await whoami(t), insecureSkipTlsVerify: true })), 'nobody')
})

test('a renewed certificate is used from the next call on', async (t) => {
  const server = await whoami(t)
  let credential: Credential = clientOf('alice')
  const client = connected(t, { server, insecureSkipTlsVerify: true, credentials: () => Promise.resolve(credential) })
  assert.equal(await ask(client), 'alice')
  credential = clientOf('bob')
  assert.equal(await ask(client), 'bob')
})

test('a rotated CA is trusted from the next call on, and the old one no longer', async (t) => {
  const server = await whoami(t)
  const next = createCa({ commonName: 'next', notAfter })
  const directory = await mkdtemp(join(tmpdir(), 'ca-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = join(directory, 'ca.crt')
  await writeFile(file, next.cert)
  let now = 0
  const credentials = credentialFiles({ ca: file }, {}, () => now)
  const client = connected(t, { server, tlsServerName: 'kubernetes', credentials })
  await assert.rejects(ask(client), /certificate/)
  await writeFile(file, next.cert + ca.cert)
  now = 60_000
  assert.equal(await ask(client), 'nobody')
  await writeFile(file, next.cert)
  now = 120_000
  await assert.rejects(ask(client), /certificate/)
})

test('uses a tunnel through the proxy, which gets only its own password', async (t) => {
  const server = await whoami(t)
  const seen: (string | undefined)[] = []
  const proxy = createHttpServer()
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(request.url, request.headers['proxy-authorization'], request.headers.authorization)
    const upstream = connect(Number(new URL(server).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    socket.on('close', () => upstream.destroy())
    socket.on('error', () => upstream.destroy())
  })
  const proxyUrl = `http://me:secret@127.0.0.1:${await listening(t, proxy)}`
  const credentials = fixedCredential({ token: 'abc', ...clientOf('alice') })
  const client = connected(t, { server, ca: ca.cert, tlsServerName: 'kubernetes', credentials, proxyUrl })
  assert.equal(await ask(client), 'alice')
  assert.equal(await ask(client), 'alice')
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`
  assert.deepEqual(seen.slice(0, 3), [new URL(server).host, basic, undefined])
})

test('a failed connection is a ConnectionError that the server did not receive', async (t) => {
  const idle = createHttpServer()
  idle.listen(0, '127.0.0.1')
  await once(idle, 'listening')
  const { port } = idle.address() as AddressInfo
  idle.close()
  await once(idle, 'close')
  const client = connected(t, { server: `http://127.0.0.1:${port}` })
  await assert.rejects(ask(client), (error: ConnectionError) => {
    assert.equal(error.maybeReceived, false)
    assert.match(error.message, /get \/whoami: .*ECONNREFUSED/)
    return true
  })
})
