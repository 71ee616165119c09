/** Prometheus answers in every bad way: no pass waits for it, and other models are read. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answers, MetricReader, type Questions } from './metric-reader.ts'
import { prometheusClient } from './prometheus-client.ts'

const NOW = 1_700_000_000_000
const answer = (value: string): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [0, value] }] } })
const questions = (key = 'k', more: object = {}): Questions => ({
  key,
  list: [
    { id: 'one', query: 'first' },
    { id: 'two', query: 'second' },
  ],
  ...more,
})
const model = (name: string) => ({ key: { name, namespace: 'a' }, uid: name })

interface Setup {
  readonly timeoutMs?: number
  readonly maxRunning?: number
  readonly tokenFile?: string
}

async function setUp(
  t: TestContext,
  listener: RequestListener,
  { timeoutMs = 10_000, tokenFile = '', maxRunning = 4 }: Setup = {},
) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const client = await prometheusClient({ url, tokenFile, caFile: '' })
  const reader = new MetricReader({ client, timeoutMs, refreshMs: 30_000, maxRunning })
  t.after(async () => {
    reader.close()
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  const waiting = new Map<string, () => void>()
  reader.onAnswer(({ name }) => waiting.get(name)?.())
  /** The answers after the model was woken. */
  const answered = async (name: string, asked = questions(), now = NOW): Promise<Answers> => {
    const woken = new Promise<void>((resolve) => void waiting.set(name, resolve))
    const before = reader.read(model(name), asked, now)
    assert.ok(before === undefined || before.at < now)
    assert.ok(reader.pending > 0, 'asks again')
    await woken
    const found = reader.read(model(name), asked, now)
    assert.ok(found)
    return found
  }
  return { reader, answered }
}

test('a pass gets the latest answers, and is woken by new ones', async (t) => {
  const calls: string[] = []
  const { reader, answered } = await setUp(t, (request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      calls.push(`${request.method} ${request.url} ${body}`)
      response.end(answer(body.includes('first') ? '1' : 'NaN'))
    })
  })
  const first = await answered('m')
  assert.deepEqual([first.at, [...first.values], first.problem], [NOW, [['one', 1]], undefined])
  assert.deepEqual(
    calls.toSorted(),
    ['first', 'second'].map((query) => `POST /api/v1/query query=${query}&time=${NOW / 1000}`),
  )
  assert.equal(reader.read(model('m'), questions(), NOW + 29_999), first, 'not read again before')
  assert.equal(calls.length, 2)
  assert.equal(reader.read(model('m'), questions('other'), NOW + 1), undefined, 'no answer to other questions')
})

test('an interval that ends is read again at once, and only once', async (t) => {
  let calls = 0
  const { reader, answered } = await setUp(t, (_, response) => {
    calls += 1
    response.end(answer('1'))
  })
  const due = { dueAt: NOW + 5_000 }
  await answered('m', questions('k', due))
  assert.equal(reader.read(model('m'), questions('k', due), NOW + 4_999)?.at, NOW)
  assert.equal((await answered('m', questions('k', due), NOW + 5_000)).at, NOW + 5_000)
  assert.equal(reader.read(model('m'), questions('k', due), NOW + 6_000)?.at, NOW + 5_000)
  assert.equal(calls, 4)
})

const bad: readonly (readonly [string, RequestListener, RegExp])[] = [
  ['500s', (_, response) => void response.writeHead(500).end('down'), /^answers with 500$/],
  ['garbage', (_, response) => void response.end('\u0000\u0001{{{'), /other than JSON/],
  ['nothing', (_, response) => void response.end(), /other than JSON/],
  ['10 MB', (_, response) => void response.end('x'.repeat(10 * 1024 * 1024)), /answers with more than 256 KiB/],
  [
    'a redirect',
    (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /^answers with 302$/,
  ],
  ['a closed connection', (request) => void request.socket.destroy(), /^cannot be reached \(UND_ERR_SOCKET\)$/],
  [
    'half an answer',
    (request, response) =>
      void response.writeHead(200, { 'content-length': 50 }).write('{', () => void request.socket.destroy()),
    /^cannot be reached/,
  ],
]
for (const [what, listener, problem] of bad)
  test(`an answer of ${what} is a problem, without values`, async (t) => {
    const { answered } = await setUp(t, listener)
    const { values, problem: found } = await answered('m')
    assert.equal(values.size, 0)
    assert.match(found ?? '', problem)
  })

test('one bad answer of several is a problem of all: figures are of the same time', async (t) => {
  const { answered } = await setUp(t, (request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => response.end(body.includes('first') ? answer('1') : '?'))
  })
  const { values, problem } = await answered('m')
  assert.equal(values.size, 0)
  assert.match(problem ?? '', /other than JSON/)
})

test('a server that hangs delays no pass, and other models are read after the time limit', async (t) => {
  const { reader, answered } = await setUp(
    t,
    (request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        if (!body.includes('hang')) response.end(answer('5'))
      })
    },
    { timeoutMs: 100, maxRunning: 1 },
  )
  const hanging = { key: 'h', list: [{ id: 'one', query: 'hang' }] }
  assert.equal(reader.read(model('slow'), hanging, NOW), undefined)
  const good = await answered('good')
  assert.deepEqual(
    [...good.values],
    [
      ['one', 5],
      ['two', 5],
    ],
  )
  assert.equal(
    reader.read(model('slow'), hanging, NOW)?.problem,
    'does not answer within 100 ms (prometheus.timeoutMs)',
  )
})

test('models that are no longer reconciled are forgotten', async (t) => {
  const { reader, answered } = await setUp(t, (_, response) => void response.end(answer('1')))
  for (const name of ['a', 'b', 'c']) await answered(name)
  assert.equal(reader.size, 3)
  await answered('d', questions(), NOW + 11 * 60_000)
  assert.equal(reader.size, 1)
})

test('the token is read for every call; a missing one is said', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'prometheus-token-'))
  t.after(() => rm(directory, { recursive: true }))
  const tokenFile = join(directory, 'token')
  const seen = new Set<string | undefined>()
  const { answered } = await setUp(
    t,
    (request, response) => {
      seen.add(request.headers.authorization)
      response.end(answer('1'))
    },
    { tokenFile },
  )
  assert.equal((await answered('m')).problem, 'cannot be asked: prometheus.tokenFile cannot be read')
  await writeFile(tokenFile, 'first\n')
  await answered('m', questions(), NOW + 60_000)
  await writeFile(tokenFile, 'second\n')
  await answered('m', questions(), NOW + 120_000)
  assert.deepEqual([...seen], ['Bearer first', 'Bearer second'])
})
