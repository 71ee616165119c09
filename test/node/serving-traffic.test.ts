/** Traffic on a real kubelet: FastAPI and PyTorch behind the router, split exactly, changed live, without failed requests. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Pod } from '../../src/kube/resources.ts'
import { killContainer } from '../cluster/kill-container.ts'
import { CUT_SHORT, type LoadResult } from '../fixtures/load.ts'
import {
  isReady,
  MINUTES,
  type TrafficFixture,
  trafficFixture,
  uids,
  versionsOf,
  type Weights,
} from '../fixtures/traffic.ts'
import { until } from '../timing/until.ts'

/** For every weight. */
const REQUESTS = 20_000

/** Clients in parallel, each with one request at a time. */
const CLIENTS = 16

/** Clients that retry requests on closed connections, and follow the Service. */
const RETRYING = { again: 2, perConnection: 50 }

let fixture: TrafficFixture

/** Changes the weights. Returns the milliseconds until they are in effect in every router. */
async function shiftTo(weights: Weights): Promise<number> {
  const from = Date.now()
  await fixture.setWeights(weights)
  await fixture.splits(weights)
  return Date.now() - from
}

const isInEffect = (provider: string) =>
  fixture.becomes(
    `routed by ${provider}`,
    ({ status }) => status?.traffic?.provider === provider && status.traffic.previous === undefined,
  )

const totalOf = ({ answers, failures }: LoadResult): number =>
  [...answers.values()].reduce((sum, count) => sum + count, failures.length)

const inWords = (result: LoadResult): string => {
  const { answers, failures, repeated, slowestMs, seconds } = result
  const total = totalOf(result)
  const shares = [...answers].map(([version, count]) => `${version} ${count} (${((100 * count) / total).toFixed(2)} %)`)
  return `${total} requests, ${shares.join(', ')}, ${failures.length} failed, ${repeated} repeated, ${Math.round(total / seconds)} requests/s, the slowest ${slowestMs} ms`
}

function assertNoneFailed({ failures }: LoadResult): void {
  const kinds = Object.entries(Object.groupBy(failures, (failure) => failure))
  assert.deepEqual(Object.fromEntries(kinds.map(([failure, all]) => [failure, all?.length])), {})
}

function assertSplit(result: LoadResult, weights: Weights): void {
  for (const [version, weight] of Object.entries(weights)) {
    const share = (100 * (result.answers.get(version) ?? 0)) / totalOf(result)
    assert.ok(Math.abs(share - weight) < 1, `${version} got ${share} % instead of ${weight} %`)
  }
}

describe('traffic on a real kubelet', () => {
  before(async () => {
    fixture = await trafficFixture({ v1: 90, v2: 10 })
  })
  after(() => fixture?.close())

  test(`splits ${REQUESTS} requests exactly at every weight, without a router restart`, async (t) => {
    const began = await fixture.routers()
    for (const weights of [
      { v1: 90, v2: 10 },
      { v1: 50, v2: 50 },
      { v1: 0, v2: 100 },
    ]) {
      const ms = await shiftTo(weights)
      const result = await fixture.predict({ requests: REQUESTS })
      t.diagnostic(`${JSON.stringify(weights)}: in effect after ${ms} ms; ${inWords(result)}`)
      assertNoneFailed(result)
      assertSplit(result, weights)
    }
    const ended = await fixture.routers()
    assert.deepEqual(uids(ended), uids(began))
    assert.ok(ended.every(({ status }) => status?.containerStatuses?.every(({ restartCount }) => restartCount === 0)))
  })

  test('changes weights under load without a failed request', async (t) => {
    const steps = [100, 90, 50, 0, 50]
    const result = await fixture.during(async () => {
      for (const first of steps) await shiftTo({ v1: first, v2: 100 - first })
    })
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  /** A request that was sent is never retried, so those that the server had received fail: at most one of each client. */
  test('loses only received requests when a server is killed under load', async (t) => {
    await fixture.allReady()
    const [first] = await fixture.servers('v1')
    assert.ok(first)
    const result = await fixture.during(async () => {
      await killContainer(first, 'server')
      await until('the server to run again', () => hasRestarted(first, 'server'), MINUTES)
      await fixture.allReady()
    })
    t.diagnostic(inWords(result))
    const lost = result.failures.filter((failure) => ![CUT_SHORT, '502', 'other side closed'].includes(failure))
    assert.deepEqual(lost, [])
    assert.ok(result.failures.length <= CLIENTS, `${result.failures.length} requests failed`)
  })

  test('deletes a server under load without a failed request', async (t) => {
    const [first] = await fixture.servers('v1')
    assert.ok(first)
    const result = await fixture.during(async () => {
      await fixture.deletePod(first)
      await fixture.disappear([first])
      await fixture.allReady()
    })
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  /** Clients retry requests that were lost with the process, but no request may get a 503. */
  test('returns no 503 after Envoy was killed under load', async (t) => {
    const [first] = await fixture.routers()
    assert.ok(first)
    const result = await fixture.during(
      async () => {
        await killContainer(first, 'envoy')
        await until('Envoy to run again', () => hasRestarted(first, 'envoy'), MINUTES)
        await fixture.splits({ v1: 50, v2: 50 })
      },
      { ...RETRYING, again: 1_000 },
    )
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  test('drains a router that is deleted under load', async (t) => {
    const [first] = await fixture.routers()
    assert.ok(first)
    const result = await fixture.during(async () => {
      await fixture.deletePod(first)
      await fixture.disappear([first])
      await fixture.splits({ v1: 50, v2: 50 })
    }, RETRYING)
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  test('replaces routers after a change of the operator config under load, without a failed request', async (t) => {
    const old = await fixture.routers()
    const result = await fixture.during(async () => {
      const limits = { cpu: '2', memory: '320Mi' }
      await fixture.operator.replace({ routerResources: { requests: { cpu: '20m', memory: '32Mi' }, limits } })
      await fixture.disappear(old)
      await fixture.splits({ v1: 50, v2: 50 })
    }, RETRYING)
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  test('reports requests per second, latency and error rate in the status', async (t) => {
    const bodies = [0.5, 0.5, 0.5, 0.5, 1e30].map((first) => JSON.stringify({ features: [[first, 0.25]] }))
    const isAbout = (figure: number | undefined, expected: number): boolean =>
      figure !== undefined && Math.abs(figure - expected) <= 0.2 * expected
    const shown = async () => {
      const { status } = await fixture.becomes('measured', ({ status: { metrics, activeVersions = [] } = {} }) => {
        const [one, other] = ['v1', 'v2'].map((version) => activeVersions.find(({ name }) => name === version)?.metrics)
        const rates = [metrics, one, other].map((figures) => figures?.requestsPerSecond)
        return (
          [40, 20, 20].every((expected, index) => isAbout(rates[index], expected)) &&
          isAbout(metrics?.errorRate, 0.1) &&
          isAbout(other?.errorRate, 0.2) &&
          one?.errorRate === 0
        )
      })
      for (const { metrics } of [status ?? {}, ...(status?.activeVersions ?? [])]) {
        t.diagnostic(JSON.stringify(metrics))
        latencies.push(metrics?.averageLatencyMs ?? 0)
      }
    }
    const latencies: number[] = []
    const body = (number: number): string => bodies[number % bodies.length] ?? ''
    const result = await fixture.during(shown, { rate: 40, body })
    t.diagnostic(inWords(result))
    assert.deepEqual(new Set(result.failures), new Set(['500']))
    assert.ok(latencies.every((ms) => ms > 0 && ms <= result.slowestMs))
  })

  test('adds and removes a version under load without a failed request', async (t) => {
    const result = await fixture.during(async () => {
      await fixture.setWeights({ v1: 50, v3: 50 })
      await fixture.splits({ v1: 50, v3: 50, v2: 0 })
    })
    const later = await fixture.predict({ requests: 300 })
    t.diagnostic(`${inWords(result)}; then ${inWords(later)}`)
    assertNoneFailed(result)
    assertNoneFailed(later)
    assert.deepEqual([...later.answers.keys()].toSorted(), ['v1', 'v3'])
    await until('the pods of v2 to go', async () => (await fixture.servers('v2')).length === 0, MINUTES)
  })

  /** New pods listen on another port than old ones; the Services must hide that. */
  test('changes the port of the ModelServer without a failed request', async (t) => {
    const old = [...(await fixture.servers('v1')), ...(await fixture.servers('v3'))]
    const result = await fixture.during(async () => {
      await fixture.movePort(8123)
      await fixture.disappear(old)
      await fixture.allReady()
    })
    t.diagnostic(inWords(result))
    assertNoneFailed(result)
  })

  const changes: readonly (readonly [provider: string, spec: object, weights?: Weights])[] = [
    ['replicas', { traffic: { provider: 'replicas' } }],
    ['router', { traffic: { provider: 'router' } }, { v1: 50, v3: 50 }],
    ['direct', { traffic: { provider: 'auto' }, versions: versionsOf({ v1: 100 }) }],
    ['router', { versions: versionsOf({ v1: 50, v2: 50 }) }, { v1: 50, v2: 50 }],
  ]

  test('switches providers under load without a failed request', async (t) => {
    for (const [provider, spec, weights] of changes) {
      const from = Date.now()
      const old = await fixture.routers()
      const result = await fixture.during(async () => {
        await fixture.change(spec)
        await isInEffect(provider)
        await (weights ? fixture.splits(weights) : fixture.disappear(old))
      }, RETRYING)
      t.diagnostic(`${provider} after ${Math.round((Date.now() - from) / 1_000)} s: ${inWords(result)}`)
      assertNoneFailed(result)
    }
  })
})

async function hasRestarted({ metadata }: Pod, container: string): Promise<boolean> {
  const pods = [...(await fixture.routers()), ...(await fixture.servers('v1'))]
  const found = pods.find(({ metadata: { uid } }) => uid === metadata.uid)
  const state = found?.status?.containerStatuses?.find(({ name }) => name === container)
  return found !== undefined && isReady(found) && (state?.restartCount ?? 0) > 0
}
