import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { FileServer } from '../../../test/fakes/file-server.ts'
import { parseFetchFailure } from '../../api/fetch-failure.ts'
import { createCa, issue } from '../../kube/x509.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'main.ts')

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly failure: ReturnType<typeof parseFetchFailure>
}

async function run(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const directory = await mkdtemp(join(tmpdir(), 'command-'))
  t.after(() => rm(directory, { recursive: true }))
  const log = join(directory, 'termination-log')
  const command = [MAIN, 'agent', 'fetch', '--to', join(directory, 'model'), '--termination-log', log, ...args]
  const child = spawn(process.execPath, command, { env: { PATH: process.env['PATH'], ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => void (output += data.toString()))
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve))
  return { code, output, failure: parseFetchFailure(await readFile(log, 'utf8').catch(() => undefined)) }
}

test('a successful fetch logs the model and its completion', async (t) => {
  const server = await new FileServer().start()
  t.after(() => server.stop())
  server.files.set('/m.bin', Buffer.from('weights'))
  const { code, output, failure } = await run(t, ['--uri', `${server.url}/m.bin`])
  assert.equal(code, 0, output)
  assert.equal(failure, undefined)
  assert.match(output, /^fetching http:\S+\/m\.bin into \S+\/model: 1 file, 7 B\nhttp:\S+ is complete after 1 s\n$/)
})

test('a failed fetch writes the reason to the termination log, without secrets', async (t) => {
  const server = await new FileServer().start()
  t.after(() => server.stop())
  const uri = `${server.url.replace('//', '//user:hush@')}/none.bin?signature=hush`
  const { code, output, failure } = await run(t, ['--uri', uri], { HTTP_AUTHORIZATION: 'Bearer hush' })
  assert.equal(code, 1)
  assert.equal(failure?.reason, 'ArtifactNotFound')
  assert.equal(server.asked[0]?.authorization, 'Bearer hush')
  assert.ok(!output.includes('hush') && !failure.message.includes('hush'), output)
})

test('a server with the certificate of a private CA is trusted with its bundle, and only with it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'trust-'))
  t.after(() => rm(directory, { recursive: true }))
  const notAfter = new Date(Date.now() + 3_600_000)
  const ca = createCa({ commonName: 'private', notAfter })
  const bundle = join(directory, 'ca.crt')
  await writeFile(bundle, ca.cert)
  const pair = issue(ca, { commonName: 'store', notAfter, ipAddresses: ['127.0.0.1'], usages: ['server'] })
  const server = createServer(pair, (_request, response) => void response.end('weights'))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const uri = `https://127.0.0.1:${(server.address() as AddressInfo).port}/m.bin`
  const trusted = await run(t, ['--uri', uri], { NODE_EXTRA_CA_CERTS: bundle })
  assert.equal(trusted.code, 0, trusted.output)
  const { failure } = await run(t, ['--uri', uri])
  assert.equal(failure?.reason, 'Unreachable')
  assert.match(failure.message, /certificate.*spec\.storage\.caBundle/)
})

test('an invalid request is reported in the termination log too', async (t) => {
  const { code, failure } = await run(t, ['--uri', 'http://127.0.0.1/m', '--checksum', 'md5:00'])
  assert.equal(code, 2)
  assert.deepEqual(failure?.reason, 'Invalid')
  assert.match(failure.message, /--checksum must be 'sha256:' and 64 hexadecimal digits/)
})
