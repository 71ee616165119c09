/** Traffic on a real kubelet: FastAPI and PyTorch behind the router, divided exactly, changed live, without a lost request. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Pod } from '../../src/kube/resources.ts'
import { killContainer } from '../kill-container.ts'
import { CUT_SHORT, type LoadResult } from '../load.ts'
import { isReady, MINUTES, type TrafficStage, trafficStage, uids, versionsOf, type Weights } from '../traffic-stage.ts'
import { until } from '../until.ts'

/** At every weight. */
const REQUESTS = 20_000

/** Clients that send again what got no answer since its connection ended just then, and follow the Service. */
const PATIENT = { again: 2, perConnection: 50 }

let stage: TrafficStage

/** Milliseconds from the change of the spec until every router divides by it. */
async function turn(weights: Weights): Promise<number> {
  const from = Date.now()
  await stage.weigh(weights)
  await stage.divided(weights)
  return Date.now() - from
}

const led = (provider: string) =>
  stage.becomes(
    `led by ${provider}`,
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

/** `killed`: servers that were killed. Each sends one answer at a time, and what it has sent half of no other can save. */
function assertNoneLost({ failures }: LoadResult, { killed = 0 } = {}): void {
  const cutShort = failures.filter((failure) => failure === CUT_SHORT)
  assert.ok(cutShort.length <= killed, `${cutShort.length} answers were cut short`)
  const lost = failures.filter((failure) => failure !== CUT_SHORT)
  const kinds = Object.entries(Object.groupBy(lost, (failure) => failure))
  assert.deepEqual(Object.fromEntries(kinds.map(([failure, all]) => [failure, all?.length])), {})
}

function assertDivided(result: LoadResult, weights: Weights): void {
  for (const [version, weight] of Object.entries(weights)) {
    const share = (100 * (result.answers.get(version) ?? 0)) / totalOf(result)
    assert.ok(Math.abs(share - weight) < 1, `${version} got ${share} % instead of ${weight} %`)
  }
}

describe('traffic on a real kubelet', () => {
  before(async () => {
    stage = await trafficStage({ v1: 90, v2: 10 })
  })
  after(() => stage?.close())

  test(`${REQUESTS} requests are divided exactly at every weight, by routers that never restart`, async (t) => {
    const began = await stage.routers()
    for (const weights of [
      { v1: 90, v2: 10 },
      { v1: 50, v2: 50 },
      { v1: 0, v2: 100 },
    ]) {
      const ms = await turn(weights)
      const result = await stage.predict({ requests: REQUESTS })
      t.diagnostic(`${JSON.stringify(weights)}: in effect after ${ms} ms; ${inWords(result)}`)
      assertNoneLost(result)
      assertDivided(result, weights)
    }
    const ended = await stage.routers()
    assert.deepEqual(uids(ended), uids(began))
    assert.ok(ended.every(({ status }) => status?.containerStatuses?.every(({ restartCount }) => restartCount === 0)))
  })

  test('weights that change under load cost no request', async (t) => {
    const steps = [100, 90, 50, 0, 50]
    const result = await stage.during(async () => {
      for (const first of steps) await turn({ v1: first, v2: 100 - first })
    })
    t.diagnostic(inWords(result))
    assertNoneLost(result)
  })

  test('servers that are killed and deleted under load cost no request', async (t) => {
    await stage.allReady()
    const [first, second] = await stage.servers('v1')
    assert.ok(first && second)
    const result = await stage.during(async () => {
      await killContainer(first, 'server')
      await until('the server to run again', () => hasRestarted(first, 'server'), MINUTES)
      await stage.deletePod(second)
      await stage.gone([second])
      await stage.allReady()
    })
    t.diagnostic(inWords(result))
    assertNoneLost(result, { killed: 1 })
  })

  /** What was lost with the process is sent again; but nobody may be told that there is no version. */
  test('a HAProxy that is killed under load answers nobody with 503 when it comes back', async (t) => {
    const [first] = await stage.routers()
    assert.ok(first)
    const result = await stage.during(
      async () => {
        await killContainer(first, 'haproxy')
        await until('HAProxy to run again', () => hasRestarted(first, 'haproxy'), MINUTES)
        await stage.divided({ v1: 50, v2: 50 })
      },
      { ...PATIENT, again: 1_000 },
    )
    t.diagnostic(inWords(result))
    assertNoneLost(result)
  })

  test('a router that is deleted under load lets its requests end', async (t) => {
    const [first] = await stage.routers()
    assert.ok(first)
    const result = await stage.during(async () => {
      await stage.deletePod(first)
      await stage.gone([first])
      await stage.divided({ v1: 50, v2: 50 })
    }, PATIENT)
    t.diagnostic(inWords(result))
    assertNoneLost(result)
  })

  test('routers are replaced by those of another operator under load, without a lost request', async (t) => {
    const old = await stage.routers()
    const result = await stage.during(async () => {
      const limits = { cpu: '2', memory: '320Mi' }
      await stage.operator.replace({ routerResources: { requests: { cpu: '20m', memory: '32Mi' }, limits } })
      await stage.gone(old)
      await stage.divided({ v1: 50, v2: 50 })
    }, PATIENT)
    t.diagnostic(inWords(result))
    assertNoneLost(result)
  })

  test('the status tells what goes through: how much, how fast, how much of it fails', async (t) => {
    const bodies = [0.5, 0.5, 0.5, 0.5, 1e30].map((first) => JSON.stringify({ features: [[first, 0.25]] }))
    const isAbout = (figure: number | undefined, expected: number): boolean =>
      figure !== undefined && Math.abs(figure - expected) <= 0.2 * expected
    const shown = async () => {
      const { status } = await stage.becomes('measured', ({ status: { metrics, activeVersions = [] } = {} }) => {
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
    const result = await stage.during(shown, { rate: 40, body })
    t.diagnostic(inWords(result))
    assert.deepEqual(new Set(result.failures), new Set(['500']))
    assert.ok(latencies.every((ms) => ms > 0 && ms <= result.slowestMs))
  })

  test('a version comes and one goes under load, without a lost request', async (t) => {
    const result = await stage.during(async () => {
      await stage.weigh({ v1: 50, v3: 50 })
      await stage.divided({ v1: 50, v3: 50, v2: 0 })
    })
    const later = await stage.predict({ requests: 300 })
    t.diagnostic(`${inWords(result)}; then ${inWords(later)}`)
    assertNoneLost(result)
    assertNoneLost(later)
    assert.deepEqual([...later.answers.keys()].toSorted(), ['v1', 'v3'])
    await until('the pods of v2 to go', async () => (await stage.servers('v2')).length === 0, MINUTES)
  })

  const changes: readonly (readonly [provider: string, spec: object, weights?: Weights])[] = [
    ['replicas', { traffic: { provider: 'replicas' } }],
    ['router', { traffic: { provider: 'router' } }, { v1: 50, v3: 50 }],
    ['direct', { traffic: { provider: 'auto' }, versions: versionsOf({ v1: 100 }) }],
    ['router', { versions: versionsOf({ v1: 50, v2: 50 }) }, { v1: 50, v2: 50 }],
  ]

  test('another way to divide, or none, under load: no request is lost at any change', async (t) => {
    for (const [provider, spec, weights] of changes) {
      const from = Date.now()
      const old = await stage.routers()
      const result = await stage.during(async () => {
        await stage.change(spec)
        await led(provider)
        await (weights ? stage.divided(weights) : stage.gone(old))
      }, PATIENT)
      t.diagnostic(`${provider} after ${Math.round((Date.now() - from) / 1_000)} s: ${inWords(result)}`)
      assertNoneLost(result)
    }
  })
})

async function hasRestarted({ metadata }: Pod, container: string): Promise<boolean> {
  const pods = [...(await stage.routers()), ...(await stage.servers('v1'))]
  const found = pods.find(({ metadata: { uid } }) => uid === metadata.uid)
  const state = found?.status?.containerStatuses?.find(({ name }) => name === container)
  return found !== undefined && isReady(found) && (state?.restartCount ?? 0) > 0
}
