/** A table of faults: a few seconds after each, the cache equals a fresh list. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Client, createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import type { Call } from '../../src/kube/interceptor.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import {
  type Cache,
  type CacheEvent,
  Caches,
  createLogger,
  type KindOptions,
  RuntimeMetrics,
} from '../../src/runtime/index.ts'
import { startControlPlane } from '../../testenv/control-plane.ts'
import { type FaultProxy, faultProxy } from '../../testenv/fault-proxy.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { Faults, errorResponse } from '../client/faults.ts'
import { until } from '../timing/until.ts'

const RECOVERED_WITHIN_MS = 5_000

const isWatch = (call: Call): boolean => call.verb === 'watch'
const isStreamingList = (call: Call): boolean => isWatch(call) && call.path.includes('sendInitialEvents=true')
const error = (code: number, reason: string) => ({ type: 'ERROR', object: { kind: 'Status', code, reason } })
const expired = error(410, 'Expired')
const broken = error(500, 'InternalError')

interface FixtureOptions {
  readonly ns: string
  readonly direct: Client
  readonly config: ClientConfig
  readonly proxy: FaultProxy
}

/** A cache on a client with faults, and a client without. */
class CacheFixture {
  readonly ns: string
  readonly direct: Client
  readonly faults = new Faults()
  readonly proxy: FaultProxy
  readonly cache: Cache<ConfigMap>
  readonly metrics = new RuntimeMetrics()
  readonly events: CacheEvent<ConfigMap>[] = []
  readonly #caches: Caches
  readonly #faulty: Client
  readonly #stop = new AbortController()

  constructor(setting: FixtureOptions, options: KindOptions<ConfigMap> = {}) {
    const { ns, direct, config, proxy } = setting
    this.ns = ns
    this.direct = direct
    this.proxy = proxy
    this.#faulty = createClient({ ...config, server: proxy.server }, { interceptors: [this.faults.interceptor] })
    const log = createLogger({ level: 'silent' })
    this.#caches = new Caches({ client: this.#faulty, log, metrics: this.metrics })
    this.cache = this.#caches.of(ConfigMap, { namespace: ns, ...options })
    this.cache.onChange(() => {
      throw new Error('a listener that always throws')
    })
    this.cache.onChange((event) => this.events.push(event))
  }

  async start(t: TestContext): Promise<void> {
    const { synced, ended } = this.#caches.start(this.#stop.signal)
    t.after(async () => {
      this.#stop.abort()
      await ended
      await this.#faulty.close()
      await this.proxy.close()
    })
    await synced
    await this.equal()
  }

  async write(...names: string[]): Promise<void> {
    for (const name of names) {
      const data = { text: `${name} ${Math.random()}` }
      await this.direct.apply(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: this.key(name), data })
    }
  }

  key(name: string) {
    return { namespace: this.ns, name }
  }

  /** Adds, changes, deletes and recreates an object: every change that a gap can hide. */
  async churn(): Promise<void> {
    await this.write('added', 'changed')
    await this.direct.delete(ConfigMap, this.key('deleted'))
    await this.direct.delete(ConfigMap, this.key('recreated'))
    await this.write('recreated')
  }

  /** Waits until the cache equals a fresh list, comparing whole objects. */
  async equal(): Promise<void> {
    const sorted = (objects: readonly ConfigMap[]) =>
      objects.toSorted((one, other) => ((one.metadata.uid ?? '') < (other.metadata.uid ?? '') ? -1 : 1))
    const agrees = async (): Promise<boolean> => {
      const { items } = await this.direct.list(ConfigMap, { namespace: this.ns })
      const listed = items.map((item) => this.cache.trimmed(item))
      return isDeepStrictEqual(sorted(listed), sorted(this.cache.list()))
    }
    await until('the cache to equal a fresh list', agrees, RECOVERED_WITHIN_MS)
  }

  /** Checks the events: each object is added, changed and deleted in that order, and names are never shared. */
  assertCoherent(): void {
    const holders = new Map<string, string>()
    for (const { type, object } of this.events) {
      const { name, uid = '' } = object.metadata
      assert.equal(holders.get(name), type === 'add' ? undefined : uid, `${type} of ${name}`)
      if (type === 'delete') holders.delete(name)
      else holders.set(name, uid)
    }
    assert.equal(holders.size, this.cache.size)
  }
}

async function setUp(t: TestContext, options: KindOptions<ConfigMap> = {}): Promise<CacheFixture> {
  const { kubeconfig, client } = await sharedCluster()
  const config = await configFromKubeconfig(kubeconfig)
  const setting = { ns: await namespace(t), direct: client, config, proxy: await faultProxy(config.server) }
  const made = new CacheFixture(setting, options)
  await made.write('changed', 'deleted', 'recreated', 'untouched')
  await made.start(t)
  return made
}

interface Fault {
  readonly name: string
  readonly options?: KindOptions<ConfigMap>
  readonly inject: (fixture: CacheFixture) => Promise<void>
}

const table: readonly Fault[] = [
  {
    name: 'an object deleted and created again across a 410 relist',
    inject: async (s) => {
      // The first relist fails, so that all changes happen in the gap.
      s.faults.plan(isStreamingList, errorResponse(500, 'InternalError'))
      s.faults.send(expired)
      await s.churn()
    },
  },
  {
    name: 'an older version of an object in the stream',
    inject: async (s) => {
      const old = await s.direct.get(ConfigMap, s.key('changed'))
      await s.churn()
      await s.equal()
      s.faults.send({ type: 'MODIFIED', object: old })
    },
  },
  {
    name: 'a late deletion of an old uid in the stream',
    inject: async (s) => {
      const old = await s.direct.get(ConfigMap, s.key('recreated'))
      await s.churn()
      await s.equal()
      s.faults.send({ type: 'DELETED', object: old })
    },
  },
  {
    name: 'a reset of every connection, then 500 for the first lists and watches',
    inject: async (s) => {
      s.proxy.cut()
      await s.churn()
      const failure = errorResponse(500, 'InternalError')
      s.faults.plan((call) => call.verb === 'watch' || call.verb === 'list', failure, failure)
      s.proxy.restore()
    },
  },
  {
    name: '410 when the watch is opened, and a server that can only list in pages',
    inject: async (s) => {
      s.faults.plan(isStreamingList, errorResponse(422, 'Invalid'))
      s.faults.plan(isWatch, errorResponse(410, 'Expired'))
      s.faults.send(broken)
      await s.churn()
    },
  },
  {
    name: '410 at the list',
    inject: async (s) => {
      s.faults.plan(isStreamingList, errorResponse(422, 'Invalid'))
      s.faults.plan((call) => call.verb === 'list', errorResponse(410, 'Expired'))
      s.faults.send(expired)
      await s.churn()
    },
  },
  {
    name: '500 on the watch',
    inject: async (s) => {
      s.faults.plan(isWatch, errorResponse(500, 'InternalError'), errorResponse(503, 'ServiceUnavailable'))
      s.faults.send(broken)
      await s.churn()
    },
  },
  {
    name: 'a half-open connection',
    options: { inactivityMs: 1_500 },
    inject: async (s) => {
      s.proxy.freeze()
      await s.churn()
      const noticed = async () => /watch_restarts_total\{[^}]*\} \d/.test(await s.metrics.registry.metrics())
      await until('the inactivity to be noticed', noticed)
      s.proxy.restore()
    },
  },
]

describe('a cache equals a fresh list after', () => {
  for (const { name, options = {}, inject } of table) {
    test(name, async (t) => {
      const s = await setUp(t, options)
      await inject(s)
      await s.equal()
      await s.write('afterwards')
      await s.equal()
      assert.equal(s.faults.pending, 0)
      s.assertCoherent()
    })
  }

  test('a relist of two thousand objects, many of them recreated', async (t) => {
    const s = await setUp(t)
    const names = Array.from({ length: 2_000 }, (_, number) => `many-${number}`)
    await inParallel(names, (name) => s.write(name))
    await s.equal()
    s.faults.plan(isStreamingList, errorResponse(500, 'InternalError'))
    s.faults.send(expired)
    await inParallel(names.slice(0, 150), (name) => s.write(name))
    await inParallel(names.slice(100, 200), (name) => s.direct.delete(ConfigMap, s.key(name)))
    await inParallel(names.slice(150, 200), (name) => s.write(name))
    await s.equal()
    s.assertCoherent()
  })

  test('a restart of etcd', async (t) => {
    const plane = await startControlPlane()
    t.after(() => plane.stop())
    const config = await configFromKubeconfig(plane.kubeconfig)
    const direct = createClient(config)
    t.after(() => direct.close())
    await until(
      'the default namespace',
      async () => (await direct.list(ConfigMap, { namespace: 'default' })).items.length > 0,
    )
    const s = new CacheFixture({ ns: 'default', direct, config, proxy: await faultProxy(config.server) })
    await s.write('changed', 'deleted', 'recreated', 'untouched')
    await s.start(t)
    await plane.etcd.kill()
    await plane.etcd.start()
    await until('the API server to answer again', () => direct.list(ConfigMap, { namespace: 'default' }))
    await s.churn()
    await s.equal()
    s.assertCoherent()
  })
})

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}
