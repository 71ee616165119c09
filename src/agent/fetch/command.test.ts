import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { FileServer } from '../../../test/fakes/file-server.ts'
import { parseFetchFailure } from '../../api/fetch-failure.ts'

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

test('an invalid request is reported in the termination log too', async (t) => {
  const { code, failure } = await run(t, ['--uri', 'http://127.0.0.1/m', '--checksum', 'md5:00'])
  assert.equal(code, 2)
  assert.deepEqual(failure?.reason, 'Invalid')
  assert.match(failure.message, /--checksum must be 'sha256:' and 64 hexadecimal digits/)
})
