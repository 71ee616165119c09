import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { until } from '../../../test/timing/until.ts'
import { Leaving } from './leaving.ts'

async function setUp(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'leaving-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = join(directory, 'leave')
  const asked: string[] = []
  let active = 2
  const ask = async (method: string, path: string): Promise<string> => {
    if (method === 'POST') asked.push(path)
    return `envoy_http_downstream_rq_active{} ${active}\n`
  }
  const leaving = new Leaving({ ask, file, log: () => undefined, leaveMs: 0 })
  return { leaving, file, asked, finish: () => void (active = 0) }
}

test('nothing happens until the file exists', async (t) => {
  const { leaving, asked } = await setUp(t)
  await leaving.check()
  assert.deepEqual(asked, [])
})

test('Envoy stops to listen, and exits only after its last request', async (t) => {
  const { leaving, file, asked, finish } = await setUp(t)
  await writeFile(file, '')
  await leaving.check()
  await leaving.check()
  await until('Envoy to stop listening', () => asked.includes('/drain_listeners'))
  assert.deepEqual(asked, ['/healthcheck/fail', '/drain_listeners'])
  assert.equal(existsSync(file), false)
  finish()
  await until('Envoy to exit', () => asked.includes('/quitquitquit'))
  assert.equal(asked.length, 3)
})
