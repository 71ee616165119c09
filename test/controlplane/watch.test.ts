import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isExpired } from '../../src/kube/errors.ts'
import type { Call } from '../../src/kube/interceptor.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { Faults, refusal } from '../faults.ts'
import { mirror, type Mirror } from '../mirror.ts'
import { until } from '../until.ts'

const { kubeconfig, client: direct } = await sharedCluster() // `direct` knows no faults

interface Scene {
  readonly ns: string
  readonly faulty: Client
  readonly faults: Faults
}

async function scene(t: TestContext): Promise<Scene> {
  const ns = await namespace(t)
  const faults = new Faults()
  const faulty = createClient(await configFromKubeconfig(kubeconfig), { interceptors: [faults.interceptor] })
  t.after(() => faulty.close())
  return { ns, faulty, faults }
}

function note(namespaceName: string, name: string, text = name): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: namespaceName, name }, data: { text } }
}

async function write(client: Client, ns: string, ...names: string[]): Promise<void> {
  for (const name of names) await client.apply(ConfigMap, note(ns, name, `${name} ${Math.random()}`))
}

/** An object added, one changed, one gone, one gone and made again: everything a gap can hide. */
async function churn(client: Client, ns: string): Promise<void> {
  await write(client, ns, 'added', 'changed')
  await client.delete(ConfigMap, { namespace: ns, name: 'gone' })
  await client.delete(ConfigMap, { namespace: ns, name: 'reborn' })
  await write(client, ns, 'reborn')
}

/** A mirror of a namespace that already holds what `churn` will change. */
async function settled(t: TestContext, { ns, faulty }: Scene, options = {}): Promise<Mirror<ConfigMap>> {
  await write(direct, ns, 'changed', 'gone', 'reborn', 'untouched')
  const held = mirror(t, faulty, ConfigMap, { namespace: ns, ...options })
  await held.equals(direct)
  return held
}

const isWatch = (call: Call): boolean => call.verb === 'watch'
const isList = (call: Call): boolean => call.verb === 'list'
const wantsEverything = (call: Call): boolean => isWatch(call) && call.path.includes('sendInitialEvents=true')
const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }

describe('a watch', () => {
  test('begins with everything in one replace and then follows each change', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 1)
    assert.equal(held.states.length, 1)
    assert.equal(s.faults.calls.length, 1, 'list and watch are one request')
  })

  test('shows the same object whether it was listed or watched', async (t) => {
    const s = await scene(t)
    await write(direct, s.ns, 'a')
    const { items } = await direct.list(ConfigMap, { namespace: s.ns, fieldSelector: 'metadata.name=a' })
    for await (const event of s.faulty.openWatch(ConfigMap, {
      namespace: s.ns,
      fieldSelector: 'metadata.name=a',
      sendInitialEvents: true,
    })) {
      assert.deepEqual(event.object, items[0])
      break
    }
  })

  test('respects selectors', async (t) => {
    const s = await scene(t)
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns, labelSelector: 'team=a' })
    for (const team of ['a', 'b']) {
      const object = note(s.ns, team)
      await direct.apply(ConfigMap, { ...object, metadata: { ...object.metadata, labels: { team } } })
    }
    await held.equals(direct)
  })

  test('applies the transformation to listed and watched objects alike', async (t) => {
    const s = await scene(t)
    await write(direct, s.ns, 'listed')
    const stop = new AbortController()
    const seen: (string | undefined)[] = []
    const { watch } = await import('../../src/kube/watch.ts')
    const transform = (object: ConfigMap): ConfigMap => ({ ...object, data: { text: 'trimmed' } })
    const selection = { namespace: s.ns, fieldSelector: 'metadata.name!=kube-root-ca.crt' }
    for await (const update of watch(s.faulty, ConfigMap, { ...selection, signal: stop.signal, transform })) {
      if (update.type === 'replace') {
        seen.push(...update.items.map(({ data }) => data?.['text']))
        await write(direct, s.ns, 'watched')
      } else if (update.type === 'apply') {
        seen.push(update.object.data?.['text'])
        stop.abort()
      }
    }
    assert.deepEqual(seen, ['trimmed', 'trimmed'])
  })
})

describe('a watch heals after', () => {
  test('410 in the stream', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    s.faults.plan(wantsEverything, refusal(500, 'InternalError')) // time for the gap to grow
    s.faults.say(expired)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 2)
    assert.ok(isExpired(held.faults[0]))
  })

  test('410 when the watch is opened', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    s.faults.plan(isWatch, refusal(410, 'Expired'))
    s.faults.say({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 2)
  })

  test('410 at the list, twice, in the middle of its pages', async (t) => {
    const s = await scene(t)
    s.faults.plan(wantsEverything, refusal(422, 'Invalid'))
    const names = Array.from({ length: 300 }, (_, index) => `page-${index}`)
    await Promise.all(names.map((name) => write(direct, s.ns, name)))
    s.faults.plan(
      (call) => isList(call) && call.path.includes('continue='),
      refusal(410, 'Expired'),
      refusal(410, 'Expired'),
    )
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns })
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.replacements, 1, 'no half list was given out')
  })

  test('500 on the watch, several times in a row', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    s.faults.plan(
      isWatch,
      refusal(500, 'InternalError'),
      refusal(503, 'ServiceUnavailable'),
      refusal(500, 'InternalError'),
    )
    s.faults.say({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.replacements, 1, 'the gap was bridged without listing again')
  })

  test('429 with a time to wait', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const response = refusal(429, 'TooManyRequests')
    s.faults.plan(isWatch, { ...response, headers: { ...response.headers, 'retry-after': '1' } })
    s.faults.say({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    const waits = held.states.flatMap((state) => (state.phase === 'waiting' ? [state.delayMs] : []))
    assert.ok(waits.some((ms) => ms >= 1000))
  })

  test('a server that cannot stream lists: refused as a request', async (t) => {
    const s = await scene(t)
    s.faults.plan(wantsEverything, refusal(422, 'Invalid', 'sendInitialEvents is forbidden'))
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.deepEqual(s.faults.calls.map(({ verb }) => verb).slice(0, 3), ['watch', 'list', 'watch'])
  })

  test('a server that cannot stream lists: found impossible in the stream', async (t) => {
    const s = await scene(t)
    const error = { type: 'ERROR', object: { kind: 'Status', code: 500, message: 'RequestWatchProgress' } }
    const body = (async function* () {
      yield Buffer.from(`${JSON.stringify(error)}\n`)
    })()
    s.faults.plan(wantsEverything, { status: 200, headers: {}, body })
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.deepEqual(s.faults.calls.map(({ verb }) => verb).slice(0, 3), ['watch', 'list', 'watch'])
  })

  test('a stream that ends in the middle of a line', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const body = (async function* () {
      yield Buffer.from('{"type":"ADDED","object":{"kind":"Conf')
    })()
    s.faults.plan(isWatch, { status: 200, headers: {}, body })
    s.faults.say({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    await churn(direct, s.ns)
    await held.equals(direct)
  })

  test('a transformation that failed once', async (t) => {
    const s = await scene(t)
    let poison = 2
    const transform = (object: ConfigMap): ConfigMap => {
      if (object.metadata.name === 'added' && poison-- > 0) throw new Error('indigestible')
      return object
    }
    const held = await settled(t, s, { transform })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 1)
  })

  test('a server that hangs up at once, without running in circles', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const nothing = () => ({ status: 200, headers: {}, body: (async function* (): AsyncGenerator<Buffer> {})() })
    s.faults.plan(isWatch, nothing, nothing, nothing)
    s.faults.say({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    await churn(direct, s.ns)
    await held.equals(direct)
    const waits = held.states.flatMap((state) => (state.phase === 'waiting' ? [state.delayMs] : []))
    assert.equal(waits.length, 4)
  })
})

describe('a relist', () => {
  test('of 2,000 objects misses nothing that happened meanwhile', async (t) => {
    const s = await scene(t)
    const names = Array.from({ length: 2_000 }, (_, index) => `many-${index}`)
    const inParallel = async (act: (name: string) => Promise<unknown>): Promise<void> => {
      const queue = names.values()
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (const name of queue) await act(name)
        }),
      )
    }
    await inParallel((name) => direct.create(ConfigMap, note(s.ns, name)))
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns })
    await held.equals(direct)
    s.faults.say(expired)
    await inParallel(async (name) => {
      const index = Number(name.slice(5))
      if (index % 4 === 0) await direct.delete(ConfigMap, { namespace: s.ns, name })
      if (index % 8 === 0) await direct.create(ConfigMap, note(s.ns, name))
      if (index % 40 === 1) s.faults.say(expired)
    })
    await held.equals(direct)
    assert.ok(held.replacements > 1)
  })

  test('shows an object that was deleted and made again as another one', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const before = held.object('reborn')?.metadata.uid
    s.faults.plan(wantsEverything, refusal(500, 'InternalError'))
    s.faults.say(expired)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.notEqual(held.object('reborn')?.metadata.uid, before)
  })

  test('that is older than what was already seen is refused', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const stale = await direct.request({ method: 'GET', path: `/api/v1/namespaces/${s.ns}/configmaps` })
    await churn(direct, s.ns)
    await held.equals(direct)
    const list = { status: 200, headers: {}, body: JSON.stringify(stale) }
    s.faults.plan(wantsEverything, refusal(422, 'Invalid'))
    s.faults.plan(isList, list, list, list)
    s.faults.say(expired)
    await until('a list to be accepted', () => held.replacements === 2)
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.faults.filter((error) => /older than/.test(String(error))).length, 3)
  })
})

describe('an event', () => {
  test('that is older than what was already seen is dropped', async (t) => {
    const s = await scene(t)
    const held = await settled(t, s)
    const old = held.object('changed')
    await churn(direct, s.ns)
    await held.equals(direct)
    const count = held.updates.length
    s.faults.say({ type: 'MODIFIED', object: old })
    s.faults.say({ type: 'DELETED', object: old })
    s.faults.say({ type: 'MODIFIED', object: held.object('reborn') }) // a repetition of the newest
    await write(direct, s.ns, 'marker')
    await until('the marker to arrive', () => held.object('marker') !== undefined)
    await held.equals(direct)
    assert.deepEqual(
      held.updates.slice(count).filter((type) => type !== 'bookmark'),
      ['apply'],
    )
  })
})

describe('a watch through a bad connection heals after', () => {
  async function throughProxy(t: TestContext): Promise<Scene & { proxy: Awaited<ReturnType<typeof faultProxy>> }> {
    const ns = await namespace(t)
    const config = await configFromKubeconfig(kubeconfig)
    const proxy = await faultProxy(config.server)
    const faults = new Faults()
    const faulty = createClient({ ...config, server: proxy.server }, { interceptors: [faults.interceptor] })
    t.after(async () => {
      await faulty.close()
      await proxy.close()
    })
    return { ns, faulty, faults, proxy }
  }

  test('a reset', async (t) => {
    const s = await throughProxy(t)
    const held = await settled(t, s)
    s.proxy.cut()
    await churn(direct, s.ns)
    s.proxy.restore()
    await held.equals(direct)
    assert.equal(held.replacements, 1)
  })

  test('a half-open connection', async (t) => {
    const s = await throughProxy(t)
    const held = await settled(t, s, { inactivityMs: 1_500 })
    s.proxy.freeze()
    await churn(direct, s.ns)
    await until('the silence to be noticed', () => held.faults.length > 0)
    await until('a new connection to freeze as well', () => held.faults.length > 1)
    s.proxy.restore()
    await held.equals(direct)
    assert.equal(held.replacements, 1)
  })

  test('a half-open connection in the middle of the first list', async (t) => {
    const s = await throughProxy(t)
    await write(direct, s.ns, 'a', 'b')
    s.proxy.freeze()
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns, inactivityMs: 1_000 })
    await until('the silence to be noticed', () => held.faults.length > 0)
    s.proxy.restore()
    await held.equals(direct)
  })
})
