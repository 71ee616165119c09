/** The faults of the crash tests do what their plans say. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Call, Response } from '../../src/kube/interceptor.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Pod, Service } from '../../src/kube/resources.ts'
import { FakeClock } from '../../src/runtime/fake-clock.ts'
import { Decoys, isDecoy } from '../crash/faults/decoys.ts'
import { ERRORS } from '../crash/faults/fault.ts'
import { Journal, type PlanRecord } from '../crash/campaign/journal.ts'
import { Freezer } from '../crash/faults/freezer.ts'
import { allPairs, errors, fiveErrors, pauses, sampled } from '../crash/campaign/plans.ts'
import { FaultInjector } from '../crash/faults/fault-injector.ts'
import { shuffledLists } from '../crash/faults/shuffled-lists.ts'
import { slowWatch } from '../crash/faults/slow-watch.ts'

const call = (verb: Call['verb'], resource: Resource, name?: string): Call => ({
  verb,
  method: verb === 'list' || verb === 'watch' ? 'GET' : 'PATCH',
  path: '/',
  resource,
  namespace: 'n',
  ...(name !== undefined && { name }),
  stream: verb === 'watch',
  attempt: 1,
  timeoutMs: 1,
})

const ok: Response = { status: 200, headers: {}, body: '{}' }
const writes = Array.from({ length: 12 }, (_, index) => `apply pods/p${index}`)

function pod(name: string, version: number, owned = true): KubeObject {
  const owner = { apiVersion: 'v1', kind: 'Job', name: 'j', uid: 'j1', controller: true }
  const metadata = { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: String(version) }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, ...(owned && { ownerReferences: [owner] }) } }
}

async function* streamOf(...objects: readonly KubeObject[]): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`)
}

/** The items of a list response. */
function itemsIn({ body }: Response): KubeObject[] {
  assert.ok(typeof body === 'string')
  return (JSON.parse(body) as { items: KubeObject[] }).items
}

async function namesIn({ body }: Response): Promise<string[]> {
  assert.ok(typeof body !== 'string')
  const chunks: string[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk).toString())
  const events = chunks.join('').trim().split('\n')
  return events.map((line) => (JSON.parse(line) as { object: KubeObject }).object.metadata.name)
}

for (const [name, plansOf] of Object.entries({ errors, fiveErrors }))
  test(`${name} cover every write with every error, and writes between two errors succeed`, () => {
    const plans = plansOf(writes)
    const hits = new Set(plans.flatMap(({ faults }) => faults.map(({ write, mode }) => `${write} ${mode}`)))
    assert.equal(hits.size, writes.length * ERRORS.length)
    for (const { faults } of plans)
      for (const { write, times = 1 } of faults)
        assert.ok(!faults.some((other) => other.write > write && other.write <= write + times))
  })

test('all-pairs covers every pair, and pauses have a second replica', () => {
  const pairs = allPairs(writes).map(({ faults }) => faults.map(({ write }) => write).join(' '))
  assert.equal(new Set(pairs).size, (writes.length * (writes.length - 1)) / 2)
  assert.ok(pauses(writes).every(({ replicas }) => replicas === 2))
})

test('a sample is spread evenly over all plans', () => {
  const chosen = sampled(allPairs, 3)(writes)
  const all = allPairs(writes)
  assert.deepEqual(
    chosen.map((plan) => all.findIndex((one) => JSON.stringify(one) === JSON.stringify(plan))),
    [11, 33, 55],
  )
})

test('five in a row: the write and four retries fail, other writes succeed', async () => {
  const injector = new FaultInjector([{ write: 1, mode: 'internal', times: 5 }])
  const send = injector.interceptorFor({ kill: () => undefined, pause: () => undefined })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 6; attempt += 1)
    statuses.push((await send(call('apply', Pod, 'a'), async () => ok)).status)
  assert.deepEqual(statuses, [500, 500, 500, 500, 500, 200])
  assert.equal((await send(call('apply', Pod, 'b'), async () => ok)).status, 200)
})

test('a frozen operator neither sends nor receives, and its timers wait for the thaw', async () => {
  const freezer = new Freezer()
  const clock = new FakeClock()
  const effects: string[] = []
  freezer.freeze()
  freezer.clock(clock).setTimeout(() => effects.push('timer'), 10)
  const sent = freezer.interceptor(call('apply', Pod, 'a'), async () => {
    effects.push('sent')
    return ok
  })
  clock.advance(20)
  await new Promise((resolve) => void setImmediate(resolve))
  assert.deepEqual(effects, [])
  freezer.thaw()
  await sent
  assert.deepEqual(new Set(effects), new Set(['sent', 'timer']))
})

test('a slow watch delivers late and in order, other kinds at once', async () => {
  const slow = slowWatch({ kind: 'pods', lag: 50 })
  const began = performance.now()
  const objects = [pod('a', 1), pod('b', 2), pod('c', 3)]
  const body = async (): Promise<Response> => ({ ...ok, body: streamOf(...objects) })
  assert.deepEqual(await namesIn(await slow(call('watch', Service), body)), ['a', 'b', 'c'])
  assert.deepEqual(await namesIn(await slow(call('watch', Pod), body)), ['a', 'b', 'c'])
  assert.ok(performance.now() - began >= 250)
})

test('shuffled lists keep every item', async () => {
  const items = Array.from({ length: 20 }, (_, index) => pod(`p${index}`, index))
  const answer = await shuffledLists(3)(call('list', Pod), async () => ({ ...ok, body: JSON.stringify({ items }) }))
  const names = itemsIn(answer).map(({ metadata }) => metadata.name)
  assert.notDeepEqual(
    names,
    items.map(({ metadata }) => metadata.name),
  )
  assert.equal(new Set(names).size, 20)
})

test('decoys copy the first child of a kind without its owner and into another namespace, and stay listed', async () => {
  const { interceptor } = new Decoys()
  const stream = async (): Promise<Response> => ({
    ...ok,
    body: streamOf(pod('x', 5, false), pod('a', 7), pod('b', 9)),
  })
  const names = await namesIn(await interceptor(call('watch', Pod), stream))
  assert.deepEqual(names, ['x', 'decoy-a', 'decoy-a', 'a', 'b'])
  const listed = await interceptor(call('list', Pod), async () => ({ ...ok, body: '{"items":[]}' }))
  const items = itemsIn(listed)
  assert.ok(items.every(isDecoy))
  assert.deepEqual(
    items.map(({ metadata }) => [metadata.namespace, metadata.ownerReferences?.length ?? 0]),
    [
      ['n', 0],
      ['decoys', 1],
    ],
  )
})

test('a journal continues under the same key only, and omits a truncated line', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'journal-')), 'state.jsonl')
  const record: PlanRecord = {
    type: 'plan',
    workload: 'w',
    scenario: 's',
    kind: 'k',
    plan: 'p',
    reached: true,
    crashes: 1,
    violations: [],
    times: {},
  }
  Journal.open(file, 'one').record(record)
  assert.deepEqual(Journal.open(file, 'one').plans, [record])
  assert.deepEqual(Journal.open(file, 'two').plans, [])
})
