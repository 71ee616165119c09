import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { until } from '../../../test/timing/until.ts'
import { freePorts } from '../../../testenv/ports.ts'
import { runAgent } from '../commands.ts'
import { fitLine, parseLine, predict } from './model.ts'

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tiny-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

test('training finds the line', () => {
  const line = fitLine(
    [-1, 0, 1, 2].map((x) => [x, 3 * x - 4]),
    500,
  )
  assert.ok(Math.abs(predict(line, 10) - 26) < 0.01, JSON.stringify(line))
})

test('a file that is not a model is rejected', () => {
  assert.throws(() => parseLine('{"slope":1}'), /a model must have a slope and an intercept/)
})

test('rank 0 stores the model, and other ranks do not', async (t) => {
  const directory = await scratch(t)
  const { signal } = new AbortController()
  const run = (rank: string) => runAgent(['tiny-train'], { env: { RANK: rank, CHECKPOINT_DIR: directory }, signal })
  assert.equal(await run('1'), 0)
  assert.deepEqual(await readdir(directory), [])
  assert.equal(await run('0'), 0)
  const line = parseLine(await readFile(join(directory, 'model.json'), 'utf8'))
  assert.ok(Math.abs(predict(line, 3) - 7) < 0.01)
})

test('serves the stored model until it is stopped', async (t) => {
  const directory = await scratch(t)
  const stop = new AbortController()
  const [port = 0] = await freePorts(1)
  const { signal } = stop
  await runAgent(['tiny-train'], { env: { CHECKPOINT_DIR: directory }, signal })
  const env = { MODEL_PATH: join(directory, 'model.json'), PORT: String(port) }
  const served = runAgent(['tiny-serve'], { env, signal })
  const url = `http://127.0.0.1:${port}`
  await until('the server to be healthy', async () => (await fetch(`${url}/health`)).ok)
  const { prediction } = (await (await fetch(`${url}/predict?x=3`)).json()) as { prediction: number }
  assert.ok(Math.abs(prediction - 7) < 0.01)
  assert.equal((await fetch(`${url}/predict?x=three`)).status, 400)
  assert.equal((await fetch(`${url}/other`)).status, 404)
  stop.abort()
  assert.equal(await served, 0)
})
