import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isExpired } from '../../src/kube/errors.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { errorResponse } from '../client/faults.ts'
import { mirror } from '../client/mirror.ts'
import {
  churn,
  configMap,
  direct,
  expired,
  isList,
  isStreamingList,
  isWatch,
  setUp,
  settled,
  write,
} from '../fixtures/watch.ts'

describe('a watch', () => {
  test('begins with one replace, and then reports each change', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 1)
    assert.equal(held.states.length, 1)
    assert.equal(s.faults.calls.length, 1, 'list and watch are one request')
  })

  test('reports the same object whether listed or watched', async (t) => {
    const s = await setUp(t)
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
    const s = await setUp(t)
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns, labelSelector: 'team=a' })
    for (const team of ['a', 'b']) {
      const object = configMap(s.ns, team)
      await direct.apply(ConfigMap, { ...object, metadata: { ...object.metadata, labels: { team } } })
    }
    await held.equals(direct)
  })

  test('applies the transformation to listed and watched objects alike', async (t) => {
    const s = await setUp(t)
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

describe('a watch recovers from', () => {
  test('410 in the stream', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    s.faults.plan(isStreamingList, errorResponse(500, 'InternalError')) // extends the gap
    s.faults.send(expired)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 2)
    assert.ok(isExpired(held.faults[0]))
  })

  test('410 when the watch is opened', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    s.faults.plan(isWatch, errorResponse(410, 'Expired'))
    s.faults.send({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 2)
  })

  test('410 at the list, twice, between its pages', async (t) => {
    const s = await setUp(t)
    s.faults.plan(isStreamingList, errorResponse(422, 'Invalid'))
    const names = Array.from({ length: 300 }, (_, index) => `page-${index}`)
    await Promise.all(names.map((name) => write(direct, s.ns, name)))
    s.faults.plan(
      (call) => isList(call) && call.path.includes('continue='),
      errorResponse(410, 'Expired'),
      errorResponse(410, 'Expired'),
    )
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns })
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.replacements, 1, 'no partial list was reported')
  })

  test('500 on the watch, several times in a row', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    s.faults.plan(
      isWatch,
      errorResponse(500, 'InternalError'),
      errorResponse(503, 'ServiceUnavailable'),
      errorResponse(500, 'InternalError'),
    )
    s.faults.send({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.replacements, 1, 'recovered without a relist')
  })

  test('429 with Retry-After', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const response = errorResponse(429, 'TooManyRequests')
    s.faults.plan(isWatch, { ...response, headers: { ...response.headers, 'retry-after': '1' } })
    s.faults.send({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await churn(direct, s.ns)
    await held.equals(direct)
    const waits = held.states.flatMap((state) => (state.phase === 'waiting' ? [state.delayMs] : []))
    assert.ok(waits.some((ms) => ms >= 1000))
  })

  test('a server without streaming lists: rejected request', async (t) => {
    const s = await setUp(t)
    s.faults.plan(isStreamingList, errorResponse(422, 'Invalid', 'sendInitialEvents is forbidden'))
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.deepEqual(s.faults.calls.map(({ verb }) => verb).slice(0, 3), ['watch', 'list', 'watch'])
  })

  test('a server without streaming lists: error in the stream', async (t) => {
    const s = await setUp(t)
    const error = { type: 'ERROR', object: { kind: 'Status', code: 500, message: 'RequestWatchProgress' } }
    const body = (async function* () {
      yield Buffer.from(`${JSON.stringify(error)}\n`)
    })()
    s.faults.plan(isStreamingList, { status: 200, headers: {}, body })
    const held = await settled(t, s)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.deepEqual(s.faults.calls.map(({ verb }) => verb).slice(0, 3), ['watch', 'list', 'watch'])
  })

  test('a stream that ends in the middle of a line', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const body = (async function* () {
      yield Buffer.from('{"type":"ADDED","object":{"kind":"Conf')
    })()
    s.faults.plan(isWatch, { status: 200, headers: {}, body })
    s.faults.send({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    await churn(direct, s.ns)
    await held.equals(direct)
  })

  test('a transformation that failed once', async (t) => {
    const s = await setUp(t)
    let failures = 2
    const transform = (object: ConfigMap): ConfigMap => {
      if (object.metadata.name === 'added' && failures-- > 0) throw new Error('transformation failed')
      return object
    }
    const held = await settled(t, s, { transform })
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.equal(held.replacements, 1)
  })

  test('a server that closes at once, without a hot loop', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const nothing = () => ({ status: 200, headers: {}, body: (async function* (): AsyncGenerator<Buffer> {})() })
    s.faults.plan(isWatch, nothing, nothing, nothing)
    s.faults.send({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    await churn(direct, s.ns)
    await held.equals(direct)
    const waits = held.states.flatMap((state) => (state.phase === 'waiting' ? [state.delayMs] : []))
    assert.equal(waits.length, 4)
  })
})
