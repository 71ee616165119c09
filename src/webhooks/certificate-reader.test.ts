import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, symlink, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { test, type TestContext } from 'node:test'
import { until } from '../../test/timing/until.ts'
import { createCa, issue, type KeyPair } from '../kube/x509.ts'
import { systemClock } from '../runtime/clock.ts'
import { createLogger } from '../runtime/log.ts'
import { type ConversionWebhook, startMountedWebhook } from './conversion-webhook.ts'

const HOUR_MS = 3_600_000
const ca = createCa({ commonName: 'test', notAfter: new Date(Date.now() + HOUR_MS) })

function leaf(commonName: string, lifeMs = HOUR_MS): KeyPair {
  const [notBefore, notAfter] = [new Date(Date.now() - HOUR_MS), new Date(Date.now() + lifeMs)]
  return issue(ca, { commonName, dnsNames: ['localhost'], usages: ['server'], notBefore, notAfter })
}

/** Replaces the files at once, as a kubelet does for a mounted Secret. */
async function provide(directory: string, { cert, key }: KeyPair): Promise<void> {
  const data = await mkdtemp(join(directory, '..version-'))
  await writeFile(join(data, 'tls.crt'), cert)
  await writeFile(join(data, 'tls.key'), key)
  await symlink(data, join(directory, '..new'))
  await rename(join(directory, '..new'), join(directory, '..data'))
}

async function mountedDirectory(t: TestContext): Promise<string> {
  const directory = join(await mkdtemp(join(tmpdir(), 'certificates-')), 'mount')
  await mkdir(directory)
  for (const name of ['tls.crt', 'tls.key']) await symlink(join('..data', name), join(directory, name))
  t.after(() => rm(join(directory, '..'), { recursive: true }))
  return directory
}

async function start(t: TestContext, directory: string): Promise<ConversionWebhook> {
  const log = createLogger({ level: 'silent' })
  const server = { clock: systemClock, log, port: 0, host: '127.0.0.1', pollMs: 10 }
  const webhook = await startMountedWebhook({ ...server, directory })
  t.after(() => webhook.close())
  return webhook
}

/** Common name of the certificate that the server shows. */
function shown({ port }: ConversionWebhook): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: ca.cert, servername: 'localhost' }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('is ready with the certificate of the directory, and uses a new one', async (t) => {
  const directory = await mountedDirectory(t)
  const webhook = await start(t, directory)
  await until('the missing file to be named', () => /tls\.(crt|key)/.test(webhook.check() ?? ''))
  await provide(directory, leaf('first'))
  await until('the webhook to be ready', () => webhook.check() === undefined)
  assert.equal(await shown(webhook), 'first')
  assert.ok((webhook.certificateExpiresAt ?? 0) > Date.now())
  await provide(directory, leaf('second'))
  await until('the new certificate', async () => (await shown(webhook)) === 'second')
})

test('keeps the last certificate while the files cannot be used', async (t) => {
  const directory = await mountedDirectory(t)
  await provide(directory, leaf('first'))
  const webhook = await start(t, directory)
  await until('the webhook to be ready', () => webhook.check() === undefined)
  await provide(directory, { cert: leaf('second').cert, key: leaf('other').key })
  await provide(directory, { cert: 'no certificate', key: '' })
  assert.equal(await shown(webhook), 'first')
  assert.equal(webhook.check(), undefined)
  await provide(directory, leaf('third'))
  await until('the new certificate', async () => (await shown(webhook)) === 'third')
})

test('is not ready with a key of another certificate, or with an expired one', async (t) => {
  const directory = await mountedDirectory(t)
  await provide(directory, { cert: leaf('first').cert, key: leaf('other').key })
  const webhook = await start(t, directory)
  await until('the reason', () => /tls\.key is not the key of tls\.crt/.test(webhook.check() ?? ''))
  await provide(directory, leaf('expired', -1_000))
  await until('the reason', () => /^expired: renew .*tls\.crt/.test(webhook.check() ?? ''))
})
