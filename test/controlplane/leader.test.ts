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
import { namespace, sharedCluster } from '../cluster.ts'
import { until } from '../until.ts'

const { client, kubeconfig } = await sharedCluster()
const script = new URL('../fixtures/stubborn-writer.ts', import.meta.url).pathname
const LEASE_MS = 6_000
const RETRY_MS = 1_000

/** A manager in a process of its own. */
class Writer {
  readonly identity: string
  readonly said: string[] = []
  readonly #process: ChildProcessByStdio<null, Readable, null>

  constructor(t: TestContext, ns: string, identity: string) {
    this.identity = identity
    const args = [script, kubeconfig, ns, identity]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface(this.#process.stdout).on('line', (line) => {
      this.said.push((JSON.parse(line) as { event: string }).event)
    })
    t.after(() => this.end())
  }

  count(event: string): number {
    return this.said.filter((said) => said === event).length
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async says(event: string, times = 1): Promise<void> {
    await until(`${this.identity} to say ${event}`, () => this.count(event) >= times)
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}

/** Two writers that compete, and a witness of every signature. */
async function contest(t: TestContext) {
  const ns = await namespace(t)
  const metadata = { namespace: ns, name: 'signed' }
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  const signatures: { writer: string; at: number }[] = []
  const stop = new AbortController()
  const scope = { namespace: ns, fieldSelector: 'metadata.name=signed', signal: stop.signal }
  const witness = (async () => {
    for await (const update of watch(client, ConfigMap, scope)) {
      const writer = update.type === 'apply' ? update.object.data?.['writer'] : undefined
      if (writer !== undefined) signatures.push({ writer, at: performance.now() })
    }
  })()
  t.after(async () => {
    stop.abort()
    await witness
  })
  const first = new Writer(t, ns, 'first')
  await first.says('leading')
  const second = new Writer(t, ns, 'second')
  await second.says('contending')
  await until('the first to sign', () => signatures.length > 10)
  const signed = (writer: Writer) =>
    until(`${writer.identity} to sign`, () => signatures.find((signature) => signature.writer === writer.identity))
  return { ns, first, second, signatures, signed }
}

/** Who wrote, in order, without repetitions. */
const terms = (signatures: readonly { writer: string }[]) =>
  signatures.map(({ writer }) => writer).filter((writer, position, all) => writer !== all[position - 1])

describe('two manager processes', () => {
  test('one leads; when it is killed, the other takes over within the lease', async (t) => {
    const { first, second, signed, signatures } = await contest(t)
    assert.equal(second.count('leading'), 0)
    const killedAt = performance.now()
    first.signal('SIGKILL')
    const { at } = await signed(second)
    t.diagnostic(`took over ${Math.round(at - killedAt)} ms after the kill, with a lease of ${LEASE_MS} ms`)
    assert.ok(at - killedAt < LEASE_MS + 2 * RETRY_MS)
    assert.deepEqual(terms(signatures), ['first', 'second'])
  })

  test('paused past its lease and resumed, the old leader writes nothing', async (t) => {
    const { first, second, signed, signatures } = await contest(t)
    first.signal('SIGSTOP')
    await signed(second)
    const before = signatures.filter(({ writer }) => writer === 'first').length
    first.signal('SIGCONT')
    await first.says('lost')
    await first.says('refused', 20)
    assert.deepEqual(terms(signatures), ['first', 'second'])
    assert.equal(signatures.filter(({ writer }) => writer === 'first').length, before)
  })

  test('stopped in good order, it releases the lease and the other need not wait for it', async (t) => {
    const { ns, first, second, signed, signatures } = await contest(t)
    const stoppedAt = performance.now()
    first.signal('SIGTERM')
    const { at } = await signed(second)
    t.diagnostic(`took over ${Math.round(at - stoppedAt)} ms after the signal`)
    await first.says('stopped')
    assert.deepEqual(terms(signatures), ['first', 'second'])
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

  test('leads as long as its own monotonic clock says that the renewal is fresh', async (t) => {
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
    test(`waits the whole lease whatever the other's clock shows (${hours} h)`, async (t) => {
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

  test('a renewal starts the wait anew, and a release ends it', async (t) => {
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

  test('a leader whose lease was taken from it notices at its next renewal', async (t) => {
    const ns = await namespace(t)
    const one = await elector(t, ns, 'one')
    assert.equal(await attempt(one), true)
    const lease = await client.get(Lease, { namespace: ns, name: 'lead' })
    await client.update(Lease, { ...lease, spec: { ...lease.spec, holderIdentity: 'usurper' } })
    const holding = one.elector.hold(new AbortController().signal)
    const ended = await until('the loss to be noticed', async () => {
      one.clock.advance(500)
      return Promise.race([holding, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
    })
    assert.equal(ended, 'lost')
    assert.equal((await client.get(Lease, { namespace: ns, name: 'lead' })).spec?.holderIdentity, 'usurper')
  })

  test('times are written with six digits, and a write on an old version is refused', async (t) => {
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
