/** The utilization of GPUs from the pages of exporters, read from a real server. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { until } from '../../test/timing/until.ts'
import { listen } from '../net/listening.ts'
import { createLogger, systemClock } from '../runtime/index.ts'
import { parseGpuPage } from './gpu-page.ts'
import { GpuUsage } from './gpu-usage.ts'

const sample = (gpu: number, labels: string, value: string): string =>
  `DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-${gpu}",modelName="NVIDIA A100, 80GB",${labels}} ${value}\n`
const of = (pod: string): string => `container="training-worker",namespace="team-a",pod="${pod}"`

const PAGE = [
  '# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n',
  sample(0, of('bert-workers-0'), '80'),
  sample(1, of('bert-workers-0'), '60'),
  sample(2, of('bert-workers-1'), '10'),
  sample(3, 'Hostname="n"', '99'),
  sample(4, of('bert-workers-2'), 'NaN'),
  sample(5, of('bert-workers-2'), '101'),
  `DCGM_FI_DEV_FB_USED{gpu="0",${of('bert-workers-0')}} 5\n`,
].join('')

test('a page has the average of the GPUs of each pod', () => {
  assert.deepEqual(
    parseGpuPage(PAGE),
    new Map([
      ['team-a/bert-workers-0', 70],
      ['team-a/bert-workers-1', 10],
    ]),
  )
})

test('garbage has none', () => {
  for (const page of ['', '\u0000'.repeat(1_000_000), 'x{'.repeat(100_000), sample(0, 'pod="a"', '1')])
    assert.equal(parseGpuPage(page).size, 0)
})

async function setUp(t: TestContext) {
  let asked = 0
  let page = PAGE
  const server = createServer((_request, response) => {
    asked += 1
    response.end(page)
  })
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  const usage = new GpuUsage({ port, clock: systemClock, log: createLogger({ level: 'silent' }), intervalMs: 20 })
  t.after(() => usage.close())
  t.after(() => server.close())
  return { usage, asked: () => asked, serve: (text: string) => void (page = text) }
}

const job = (uid: string) => ({ uid, key: { namespace: 'team-a', name: uid } })

test('a node is read once for all jobs on it, and only while a job uses it', async (t) => {
  const { usage, asked } = await setUp(t)
  const woken = new Set<string>()
  usage.onRead(({ name }) => void woken.add(name))
  usage.follow(job('one'), ['127.0.0.1'])
  usage.follow(job('two'), ['127.0.0.1'])
  assert.equal(usage.size, 1)
  await until('the usage', () => usage.of('team-a', 'bert-workers-0', '127.0.0.1') === 70)
  assert.equal(usage.of('team-a', 'bert-workers-0', '127.0.0.2'), undefined)
  await until('both jobs to be woken', () => woken.size === 2)
  usage.follow(job('one'), [])
  assert.equal(usage.size, 1)
  usage.forget('two')
  assert.equal(usage.size, 0)
  const before = asked()
  await until('a running request to end', () => asked() - before <= 1)
})

test('a page of 10 MB is not used, and old values are forgotten', async (t) => {
  const { usage, serve } = await setUp(t)
  usage.follow(job('one'), ['127.0.0.1'])
  await until('the usage', () => usage.of('team-a', 'bert-workers-1', '127.0.0.1') === 10)
  serve(PAGE.padEnd(10_000_000, '\n'))
  await until('no usage', () => usage.of('team-a', 'bert-workers-1', '127.0.0.1') === undefined)
})
