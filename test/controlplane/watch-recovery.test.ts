import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { errorResponse, Faults } from '../client/faults.ts'
import { mirror } from '../client/mirror.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import {
  churn,
  configMap,
  direct,
  expired,
  isList,
  isStreamingList,
  kubeconfig,
  setUp,
  settled,
  write,
  type WatchFixture,
} from '../fixtures/watch.ts'
import { until } from '../timing/until.ts'

describe('a relist', () => {
  test('of 2,000 objects misses no change', async (t) => {
    const s = await setUp(t)
    const names = Array.from({ length: 2_000 }, (_, index) => `many-${index}`)
    const inParallel = async (act: (name: string) => Promise<unknown>): Promise<void> => {
      const queue = names.values()
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (const name of queue) await act(name)
        }),
      )
    }
    await inParallel((name) => direct.create(ConfigMap, configMap(s.ns, name)))
    const held = mirror(t, s.faulty, ConfigMap, { namespace: s.ns })
    await held.equals(direct)
    s.faults.send(expired)
    await inParallel(async (name) => {
      const index = Number(name.slice(5))
      if (index % 4 === 0) await direct.delete(ConfigMap, { namespace: s.ns, name })
      if (index % 8 === 0) await direct.create(ConfigMap, configMap(s.ns, name))
      if (index % 40 === 1) s.faults.send(expired)
    })
    await held.equals(direct)
    assert.ok(held.replacements > 1)
  })

  test('reports an object that was deleted and recreated as a new one', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const before = held.object('recreated')?.metadata.uid
    s.faults.plan(isStreamingList, errorResponse(500, 'InternalError'))
    s.faults.send(expired)
    await churn(direct, s.ns)
    await held.equals(direct)
    assert.notEqual(held.object('recreated')?.metadata.uid, before)
  })

  test('that is older than the observed state is rejected', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const stale = await direct.request({ method: 'GET', path: `/api/v1/namespaces/${s.ns}/configmaps` })
    await churn(direct, s.ns)
    await held.equals(direct)
    const list = { status: 200, headers: {}, body: JSON.stringify(stale) }
    s.faults.plan(isStreamingList, errorResponse(422, 'Invalid'))
    s.faults.plan(isList, list, list, list)
    s.faults.send(expired)
    await until('a list to be accepted', () => held.replacements === 2)
    await held.equals(direct)
    assert.equal(s.faults.pending, 0)
    assert.equal(held.faults.filter((error) => /older than/.test(String(error))).length, 3)
  })
})

describe('an event', () => {
  test('that is older than the observed state is dropped', async (t) => {
    const s = await setUp(t)
    const held = await settled(t, s)
    const old = held.object('changed')
    await churn(direct, s.ns)
    await held.equals(direct)
    const count = held.updates.length
    s.faults.send({ type: 'MODIFIED', object: old })
    s.faults.send({ type: 'DELETED', object: old })
    s.faults.send({ type: 'MODIFIED', object: held.object('recreated') }) // a repetition of the newest
    await write(direct, s.ns, 'marker')
    await until('the marker to arrive', () => held.object('marker') !== undefined)
    await held.equals(direct)
    assert.deepEqual(
      held.updates.slice(count).filter((type) => type !== 'bookmark'),
      ['apply'],
    )
  })
})

describe('a watch through a bad connection recovers from', () => {
  async function throughProxy(
    t: TestContext,
  ): Promise<WatchFixture & { proxy: Awaited<ReturnType<typeof faultProxy>> }> {
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
    await until('the inactivity to be noticed', () => held.faults.length > 0)
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
    await until('the inactivity to be noticed', () => held.faults.length > 0)
    s.proxy.restore()
    await held.equals(direct)
  })
})
