import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import tls from 'node:tls'
import * as fc from 'fast-check'
import { createCa, issue, type KeyPair } from './x509.ts'

const hours = (count: number): Date => new Date(Date.now() + count * 3_600_000)
const authority = (commonName = 'test authority'): KeyPair => createCa({ commonName, notAfter: hours(24) })

test('an authority signs itself and may sign others', () => {
  const ca = new X509Certificate(authority().cert)
  assert.equal(ca.ca, true)
  assert.equal(ca.subject, 'CN=test authority')
  assert.ok(ca.verify(ca.publicKey))
  assert.ok(ca.checkIssued(ca))
})

test('a leaf chains to its authority and carries its names, usages and validity', () => {
  const ca = createCa({ commonName: 'ca', organization: 'ml-operator', notAfter: hours(24) })
  const notBefore = new Date('2030-01-02T03:04:05Z')
  const notAfter = new Date('2055-01-02T03:04:05Z')
  const leaf = new X509Certificate(
    issue(ca, {
      commonName: 'system:node:a',
      organization: 'system:nodes',
      dnsNames: ['localhost', '*.example.svc'],
      ipAddresses: ['127.0.0.1', '::1', 'fd00:ec2::254', '::ffff:10.0.0.1'],
      usages: ['server', 'client'],
      notBefore,
      notAfter,
    }).cert,
  )
  const parent = new X509Certificate(ca.cert)
  assert.ok(leaf.checkIssued(parent))
  assert.ok(leaf.verify(parent.publicKey))
  assert.equal(leaf.ca, false)
  assert.equal(leaf.subject, 'O=system:nodes\nCN=system:node:a')
  assert.equal(leaf.validFromDate.getTime(), notBefore.getTime())
  assert.equal(leaf.validToDate.getTime(), notAfter.getTime())
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  assert.equal(leaf.checkHost('localhost'), 'localhost')
  assert.equal(leaf.checkHost('other'), undefined)
  for (const address of ['127.0.0.1', '::1', 'fd00:ec2::254']) assert.equal(leaf.checkIP(address), address)
})

test('serial numbers differ and a foreign authority does not verify', () => {
  const request = { commonName: 'a', usages: ['server'], notAfter: hours(1) } as const
  const ca = authority()
  const [first, second] = [issue(ca, request), issue(ca, request)].map(({ cert }) => new X509Certificate(cert))
  assert.notEqual(first?.serialNumber, second?.serialNumber)
  assert.equal(first?.verify(new X509Certificate(authority().cert).publicKey), false)
})

test('encodes subjects of any length and alphabet', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }), (name) => {
      fc.pre(!name.includes('\0'))
      const ca = authority(name)
      const leaf = issue(ca, { commonName: name, usages: ['client'], notAfter: hours(1) })
      const parent = new X509Certificate(ca.cert)
      const child = new X509Certificate(leaf.cert)
      assert.ok(child.checkIssued(parent))
      assert.equal(child.toLegacyObject().subject.CN, name)
    }),
    { numRuns: 25 },
  )
})

test('both sides of a TLS connection accept each other by certificate', async () => {
  const ca = authority()
  const server = issue(ca, { commonName: 'server', dnsNames: ['localhost'], usages: ['server'], notAfter: hours(1) })
  const client = issue(ca, { commonName: 'alice', organization: 'admins', usages: ['client'], notAfter: hours(1) })

  const listener = tls.createServer(
    { ...server, ca: ca.cert, requestCert: true, rejectUnauthorized: true },
    (socket) => {
      socket.end(String(socket.getPeerCertificate().subject.CN))
    },
  )
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  assert.ok(address !== null && typeof address === 'object')
  const socket = tls.connect({ ...client, ca: ca.cert, port: address.port, host: '127.0.0.1', servername: 'localhost' })
  assert.equal(await text(socket), 'alice')
  assert.equal(socket.authorized, true)
  listener.close()
})
