/** The router with a fake Envoy. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeEnvoy } from '../../../test/fakes/envoy.ts'
import { Addresses } from './addresses.ts'
import { Router } from './router.ts'
import { TrafficCounters } from './traffic-counters.ts'

type Entries = readonly (readonly [version: string, address: string, weight: number])[]

const route = (entries: Entries, rules: object = {}): string => {
  const versions = entries.map(([version, address, weight]) => ({ version, address, weight }))
  return JSON.stringify(Object.keys(rules).length === 0 ? versions : { versions, ...rules })
}

const known = async (host: string): Promise<string> => {
  if (host === 'nowhere') throw new Error('ENOTFOUND')
  return host === 'a' ? '10.0.0.1' : '10.0.0.2'
}

function setUp(texts: string[]) {
  const envoy = new FakeEnvoy()
  const logged: string[] = []
  const router = new Router({
    ask: envoy.ask,
    write: envoy.write,
    addresses: new Addresses({ lookup: known, now: () => 0 }),
    counters: new TrafficCounters(),
    readRoutes: async () => texts,
    startedAt: 1,
    now: () => 0,
    log: (message) => void logged.push(message),
  })
  return { router, envoy, logged }
}

const division = (router: Router) => router.report().versions.map(({ version, weight }) => [version, weight])

const TWO = route([
  ['v1', 'a:80', 90],
  ['v2', 'b:80', 10],
])

describe('the router', () => {
  test('is ready once the route is in effect, and then writes nothing more', async () => {
    const { router, envoy } = setUp([TWO])
    assert.equal(router.isReady, false)
    await router.sync()
    assert.equal(router.isReady, true)
    assert.deepEqual(division(router), [
      ['v1', 90],
      ['v2', 10],
    ])
    const before = envoy.writes.length
    await router.sync()
    assert.equal(envoy.writes.length, before)
  })

  test('reports only what Envoy says that it uses', async () => {
    const texts = [TWO]
    const { router, envoy, logged } = setUp(texts)
    await router.sync()
    envoy.isDeaf = true
    texts[0] = route([['v2', 'b:80', 100]])
    await router.sync()
    assert.deepEqual(division(router), [
      ['v1', 90],
      ['v2', 10],
    ])
    assert.match(logged.at(-1) ?? '', /Envoy does not use/)
    envoy.isDeaf = false
    await router.sync()
    assert.deepEqual(division(router), [['v2', 100]])
  })

  test('is not ready without a route', async () => {
    const { router } = setUp([''])
    await router.prepare()
    await router.sync()
    assert.deepEqual([router.isReachable, router.isReady], [true, false])
    assert.deepEqual(division(router), [])
  })

  test('writes files that Envoy can start with, also without a route or an address', async () => {
    for (const text of ['', '{', route([['v1', 'nowhere:80', 100]]), TWO]) {
      const { router, envoy } = setUp([text])
      await router.prepare()
      assert.deepEqual([...envoy.files.keys()].toSorted(), ['clusters', 'endpoints', 'routes'])
    }
  })

  test('starts with the initial route, and switches to the annotation', async () => {
    const texts = ['', route([['v1', 'a:80', 100]])]
    const { router } = setUp(texts)
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    texts[0] = route([['v2', 'b:80', 100]])
    await router.sync()
    assert.deepEqual(division(router), [['v2', 100]])
  })

  test('an invalid route, or one without an address, changes nothing and is logged once', async () => {
    const texts = [route([['v1', 'a:80', 100]])]
    const { router, logged } = setUp(texts)
    await router.sync()
    for (const bad of ['{', route([['v2', 'nowhere:80', 100]])]) {
      texts[0] = bad
      await router.sync()
      await router.sync()
      assert.deepEqual(division(router), [['v1', 100]])
      assert.equal(router.isReady, true)
    }
    assert.equal(logged.length, 3)
    assert.match(logged[2] ?? '', /nowhere has no address yet/)
  })

  test('a version without traffic may have no address yet; with one it is reported with weight 0', async () => {
    const texts = [
      route([
        ['v1', 'a:80', 100],
        ['v2', 'nowhere:80', 0],
      ]),
    ]
    const { router } = setUp(texts)
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    texts[0] = route([
      ['v1', 'a:80', 100],
      ['v2', 'b:80', 0],
    ])
    await router.sync()
    assert.deepEqual(division(router), [
      ['v1', 100],
      ['v2', 0],
    ])
  })

  test('reports nothing and is not ready without Envoy', async () => {
    const { router, envoy } = setUp([TWO])
    await router.sync()
    envoy.isGone = true
    await router.sync()
    assert.deepEqual([router.isReady, router.isReachable], [false, false])
    assert.deepEqual(division(router), [])
  })

  test('a cluster exists before a route names it, and until none does', async () => {
    const texts = [TWO]
    const { router, envoy } = setUp(texts)
    await router.sync()
    envoy.writes.length = 0
    texts[0] = route(
      [
        ['v1', 'a:80', 100],
        ['v2', 'b:80', 0],
      ],
      { mirror: { version: 'v2', percent: 10 } },
    )
    await router.sync()
    assert.deepEqual(envoy.writes, ['clusters', 'endpoints', 'routes'])
    assert.deepEqual(
      envoy.used('clusters').map(({ name }) => name),
      ['version/v2'],
    )
    envoy.writes.length = 0
    texts[0] = TWO
    await router.sync()
    assert.deepEqual(envoy.writes, ['endpoints', 'routes', 'clusters'])
    assert.deepEqual(envoy.used('clusters'), [])
  })

  test('reports the weights of sticky routes', async () => {
    const entries: Entries = [
      ['v1', 'a:80', 70],
      ['v2', 'b:80', 30],
    ]
    const { router } = setUp([route(entries, { stickiness: { header: 'x-user' } })])
    await router.sync()
    assert.deepEqual(division(router), [
      ['v1', 70],
      ['v2', 30],
    ])
  })
})
