import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isConflict } from '../../src/kube/errors.ts'
import { ConfigMap, Lease } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { createLogger, LeaderElector } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/runtime/fake-clock.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

const { client, kubeconfig } = await sharedCluster()
const script = new URL('../programs/stubborn-writer.ts', import.meta.url).pathname
const LEASE_MS = 6_000
const RETRY_MS = 1_000

/** A manager in a process of its own. */
class Writer {
  readonly identity: string
  readonly events: string[] = []
  readonly #process: ChildProcessByStdio<null, Readable, null>

  constructor(t: TestContext, ns: string, identity: string) {
    this.identity = identity
    const args = [script, kubeconfig, ns, identity]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface(this.#process.stdout).on('line', (line) => {
      this.events.push((JSON.parse(line) as { event: string }).event)
    })
    t.after(() => this.end())
  }

  count(event: string): number {
    return this.events.filter((one) => one === event).length
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async emits(event: string, times = 1): Promise<void> {
    await until(`${this.identity} to print ${event}`, () => this.count(event) >= times)
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}

/** Two writers that compete, and an observer of every write. */
async function startWriters(t: TestContext) {
  const ns = await namespace(t)
  const metadata = { namespace: ns, name: 'signed' }
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  const writes: { writer: string; at: number }[] = []
  const stop = new AbortController()
  const scope = { namespace: ns, fieldSelector: 'metadata.name=signed', signal: stop.signal }
  const observing = (async () => {
    for await (const update of watch(client, ConfigMap, scope)) {
      const writer = update.type === 'apply' ? update.object.data?.['writer'] : undefined
      if (writer !== undefined) writes.push({ writer, at: performance.now() })
    }
  })()
  t.after(async () => {
    stop.abort()
    await observing
  })
  const first = new Writer(t, ns, 'first')
  await first.emits('leading')
  const second = new Writer(t, ns, 'second')
  await second.emits('contending')
  await until('the first to write', () => writes.length > 10)
  const wrote = (writer: Writer) =>
    until(`${writer.identity} to write`, () => writes.find((write) => write.writer === writer.identity))
  return { ns, first, second, writes, wrote }
}

/** The writers in order, without repetitions. */
const terms = (writes: readonly { writer: string }[]) =>
  writes.map(({ writer }) => writer).filter((writer, position, all) => writer !== all[position - 1])

describe('two manager processes', () => {
  test('one leads; when it is killed, the other takes over within the lease duration', async (t) => {
    const { first, second, wrote, writes } = await startWriters(t)
    assert.equal(second.count('leading'), 0)
    const killedAt = performance.now()
    first.signal('SIGKILL')
    const { at } = await wrote(second)
    t.diagnostic(`took over ${Math.round(at - killedAt)} ms after the kill, with a lease of ${LEASE_MS} ms`)
    assert.ok(at - killedAt < LEASE_MS + 2 * RETRY_MS)
    assert.deepEqual(terms(writes), ['first', 'second'])
  })

  test('an old leader that was paused beyond its lease writes nothing after it is resumed', async (t) => {
    const { first, second, wrote, writes } = await startWriters(t)
    first.signal('SIGSTOP')
    await wrote(second)
    const before = writes.filter(({ writer }) => writer === 'first').length
    first.signal('SIGCONT')
    await first.emits('lost')
    await first.emits('refused', 20)
    assert.deepEqual(terms(writes), ['first', 'second'])
    assert.equal(writes.filter(({ writer }) => writer === 'first').length, before)
  })

  test('a graceful stop releases the lease, so the other takes over at once', async (t) => {
    const { ns, first, second, wrote, writes } = await startWriters(t)
    const stoppedAt = performance.now()
    first.signal('SIGTERM')
    const { at } = await wrote(second)
    t.diagnostic(`took over ${Math.round(at - stoppedAt)} ms after the signal`)
    await first.emits('stopped')
    assert.deepEqual(terms(writes), ['first', 'second'])
    const lease = await client.get(Lease, { namespace: ns, name: 'writer' })
    assert.equal(lease.spec?.holderIdentity, 'second')
    assert.equal(lease.spec?.leaseTransitions, 1)
  })
})

describe('an elector', () => {
  async function elector(t: TestContext, ns: string, identity: string, clock = new FakeClock()) {
    const config = await configFromKubeconfig(kubeconfig)
    const own = createClient(config)
    t.after(() => own.close())
    const lease = { namespace: ns, name: 'lead' }
    const log = createLogger({ level: 'silent' })
    const made = new LeaderElector({ lease, identity }, { client: own, clock, log, random: () => 0.5 })
    return { elector: made, clock }
  }

  const attempt = ({ elector: candidate }: Awaited<ReturnType<typeof elector>>) =>
    candidate.attempt(AbortSignal.timeout(30_000))

  test('leads while its renewal is recent by its own monotonic clock', async (t) => {
    const ns = await namespace(t)
    const one = await elector(t, ns, 'one')
    assert.equal(await attempt(one), true)
    one.clock.jumpWallClock(3_600_000)
    assert.equal(one.elector.isLeading, true)
    one.clock.advance(9_999)
    assert.equal(one.elector.isLeading, true)
    one.clock.advance(1)
    assert.equal(one.elector.isLeading, false)
  })

  for (const hours of [-1, 1]) {
    test(`waits for the whole lease whatever the other's clock shows (${hours} h)`, async (t) => {
      const ns = await namespace(t)
      const one = await elector(t, ns, 'one', new FakeClock(Date.UTC(2030, 0, 1) + hours * 3_600_000))
      const two = await elector(t, ns, 'two')
      assert.equal(await attempt(one), true)
      assert.equal(await attempt(two), false)
      two.clock.advance(14_999)
      assert.equal(await attempt(two), false)
      two.clock.advance(1)
      assert.equal(await attempt(two), true)
    })
  }

  test('a renewal restarts the wait, and a release ends it', async (t) => {
    const ns = await namespace(t)
    const one = await elector(t, ns, 'one')
    const two = await elector(t, ns, 'two')
    assert.equal(await attempt(one), true)
    assert.equal(await attempt(two), false)
    two.clock.advance(14_000)
    one.clock.advance(1_000)
    assert.equal(await attempt(one), true)
    assert.equal(await attempt(two), false)
    two.clock.advance(14_000)
    assert.equal(await attempt(two), false)
    await one.elector.release()
    assert.equal(one.elector.isLeading, false)
    assert.equal(await attempt(two), true)
  })

  test('a leader notices at its next renewal that its lease was taken', async (t) => {
    const ns = await namespace(t)
    const one = await elector(t, ns, 'one')
    assert.equal(await attempt(one), true)
    const lease = await client.get(Lease, { namespace: ns, name: 'lead' })
    await client.update(Lease, { ...lease, spec: { ...lease.spec, holderIdentity: 'other' } })
    const holding = one.elector.hold(new AbortController().signal)
    const ended = await until('the loss to be noticed', async () => {
      one.clock.advance(500)
      return Promise.race([holding, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
    })
    assert.equal(ended, 'lost')
    assert.equal((await client.get(Lease, { namespace: ns, name: 'lead' })).spec?.holderIdentity, 'other')
  })

  test('writes times with six digits, and no update with an old resourceVersion', async (t) => {
    const ns = await namespace(t)
    const one = await elector(t, ns, 'one')
    await attempt(one)
    const lease = await client.get(Lease, { namespace: ns, name: 'lead' })
    assert.match(lease.spec?.renewTime ?? '', /\.\d{6}Z$/)
    await client.update(Lease, lease)
    await assert.rejects(
      client.update(Lease, { ...lease, metadata: { ...lease.metadata, resourceVersion: '2' } }),
      isConflict,
    )
  })
})
