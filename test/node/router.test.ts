/** A real Envoy, configured by the agent: weights, retries and live changes. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { load } from '../fixtures/load.ts'
import { type RouterFixture, routerFixture, type Running } from '../fixtures/router.ts'
import { until } from '../timing/until.ts'

const REQUESTS = 4_000
/** Longer than the poll interval of the agent. */
const POLL_MS = 600

async function twoVersions(t: TestContext) {
  const fixture = await routerFixture(t)
  const one = await fixture.version('v1')
  const other = await fixture.version('v2')
  return { ...fixture, one, other }
}

/** A weight that changes within a round leaves at most one round unfinished. */
function assertSplit(answers: ReadonlyMap<string, number>, version: string, percent: number): void {
  const share = ((answers.get(version) ?? 0) * 100) / REQUESTS
  assert.ok(Math.abs(share - percent) < 0.5, `${version} got ${share} % instead of ${percent} %`)
}

/** Whether this many slow requests have reached the version. */
const isSlow = (version: Running, count: number): boolean => version.log().split('slow\n').length > count

/** Waits until the router has counted this many requests; it does so with a delay. */
async function waitForCounters({ report }: RouterFixture, requests: number) {
  return until(`${requests} requests to be counted`, async () => {
    const { versions } = await report()
    const sum = versions.reduce((total, version) => total + version.requests, 0)
    return sum === requests && new Map(versions.map((version) => [version.version, version]))
  })
}

/** Clients of `load` in parallel, each with one request at a time. */
const CLIENTS = 16

/** How Envoy reports a server that ended without a response: 502, or a close of a reused connection. */
const UNANSWERED = new Set(['502', 'other side closed'])

/** Only requests that the server had received fail: at most one of each client. */
function assertOnlyReceivedFailed(failures: readonly string[]): void {
  assert.deepEqual(
    failures.filter((failure) => !UNANSWERED.has(failure)),
    [],
  )
  assert.ok(failures.length <= CLIENTS, `${failures.length} requests failed`)
}

/** The final counters of both versions, once v1 has this many requests and nothing changes any more. */
async function finalCounters({ report }: RouterFixture, answered: number) {
  let before = ''
  return until('final counters', async () => {
    const { versions } = await report()
    const [v1, v2] = ['v1', 'v2'].map((name) => versions.find(({ version }) => version === name))
    const now = JSON.stringify([v1, v2])
    const isFinal = v1?.requests === answered && now === before
    before = now
    await delay(POLL_MS)
    return isFinal && v2 ? { v1, v2 } : undefined
  })
}

describe('a router on this machine', () => {
  test('splits exactly by the configured weights, live, and counts every request', async (t) => {
    const fixture = await twoVersions(t)
    const { shiftTo, url, envoy } = fixture
    assert.equal((await fixture.page('/readyz')).status, 503)
    const pid = envoy.pid
    let sent = 0
    for (const [first, second] of [
      [90, 10],
      [50, 50],
      [0, 100],
      [100, 0],
    ] as const) {
      const ms = await shiftTo([
        ['v1', first],
        ['v2', second],
      ])
      assert.equal((await fixture.page('/readyz')).status, 200)
      const { answers, failures, seconds } = await load(url, { requests: REQUESTS })
      sent += REQUESTS
      t.diagnostic(
        `${first}/${second}: ${JSON.stringify([...answers])}, in effect after ${ms} ms, ${Math.round(REQUESTS / seconds)} requests/s`,
      )
      assert.deepEqual(failures, [])
      assertSplit(answers, 'v1', first)
      assertSplit(answers, 'v2', second)
    }
    const versions = await waitForCounters(fixture, sent)
    assert.equal(versions.get('v1')?.errors, 0)
    assert.ok((versions.get('v1')?.latencyMsP99 ?? -1) >= (versions.get('v1')?.latencyMsP50 ?? Infinity))
    assert.match((await fixture.page('/metrics')).text, /^model_router_requests_total\{version="v2"\} \d+$/m)
    assert.equal(envoy.pid, pid)
    assert.ok(envoy.isRunning())
  })

  test('changes weights under load without a failed request', async (t) => {
    const { shiftTo, write, url } = await twoVersions(t)
    await shiftTo([
      ['v1', 100],
      ['v2', 0],
    ])
    const shares = [90, 50, 10, 0, 30, 100]
    const result = await load(url, {
      requests: REQUESTS,
      progress: (ended) => {
        const share = ended % 500 === 0 ? shares[ended / 500] : undefined
        if (share !== undefined)
          void write([
            ['v1', share],
            ['v2', 100 - share],
          ])
      },
    })
    assert.deepEqual(result.failures, [])
  })

  test('loses only received requests when a version is killed under load; another version gets the rest', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    const kill = (ended: number): void => void (ended === 1_000 && fixture.other.kill('SIGKILL'))
    const body = '{"features":[1,2]}'
    const { answers, failures } = await load(fixture.url, { requests: REQUESTS, progress: kill, body })
    assert.equal(fixture.other.isRunning(), false)
    assertOnlyReceivedFailed(failures)
    // Every request ended once; the other errors of v2 were failed connections, whose requests v1 answered.
    const { v1, v2 } = await finalCounters(fixture, answers.get('v1') ?? 0)
    const retried = v1.requests + v2.requests - REQUESTS
    t.diagnostic(`killed at 1000 of ${REQUESTS}: ${failures.length} failed, ${retried} answered by the other`)
    assert.ok(retried > 0)
    assert.deepEqual([v1.errors, v2.errors], [0, failures.length + retried])
  })

  test('loses only received requests when the only version is restarted under load; the rest waits', async (t) => {
    const fixture = await routerFixture(t)
    const only = await fixture.version('v1')
    await fixture.shiftTo([['v1', 100]])
    const restart = (ended: number): void => void (ended === 500 && only.restart())
    const { failures } = await load(fixture.url, { requests: 1_000, progress: restart, body: '{}' })
    assertOnlyReceivedFailed(failures)
  })

  for (const body of ['{}', undefined]) {
    const method = body === undefined ? 'GET' : 'POST'
    test(`a ${method} that crashes a server is not retried, and counts as an error of its version`, async (t) => {
      const fixture = await twoVersions(t)
      await fixture.shiftTo([
        ['v1', 50],
        ['v2', 50],
      ])
      const { failures } = await load(fixture.url, { requests: 1, path: '/crash', ...(body !== undefined && { body }) })
      assert.deepEqual(failures, ['502'])
      const crashes = [fixture.one, fixture.other].map((version) => version.log().includes('crash'))
      assert.equal(crashes.filter(Boolean).length, 1)
      const errors = await until('the failure to be counted', async () => {
        const { versions } = await fixture.report()
        const found = ['v1', 'v2'].map((name) => versions.find(({ version }) => version === name)?.errors ?? 0)
        return found.some((count) => count > 0) && found
      })
      assert.deepEqual(errors, crashes.map(Number))
    })
  }

  test('counts requests in progress by version', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    const { failures, seconds } = await load(fixture.url, { requests: 8, connections: 8, path: '/very-slow' })
    assert.deepEqual(failures, [])
    const { versions } = await fixture.report()
    const open = versions.map(({ openMsSum = 0 }) => openMsSum)
    t.diagnostic(`8 requests of 6 s in ${seconds} s: ${open.join(' and ')} ms in progress`)
    // Four requests of six seconds each, less what the interval of the agent misses.
    for (const sum of open) assert.ok(sum > 12_000 && sum < 36_000, `${sum} ms`)
  })

  test('counts failed connections against a version, although another version responds', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    await fixture.other.kill('SIGKILL')
    const { answers, failures } = await load(fixture.url, { requests: 200 })
    assert.deepEqual([[...answers], failures], [[['v1', 200]], []])
    const { v1, v2 } = await finalCounters(fixture, 200)
    assert.equal(v1.errors, 0)
    assert.ok(v2.errors >= 50 && v2.errors === v2.requests, `${v2.errors} errors of ${v2.requests}`)
  })

  test('adds and removes versions live; a removed version finishes its requests', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 0],
      ['v2', 100],
    ])
    const slow = load(fixture.url, { requests: 4, connections: 4, path: '/slow' })
    await until('the slow requests to arrive', () => isSlow(fixture.other, 4))
    await fixture.version('v3')
    await fixture.shiftTo([
      ['v1', 50],
      ['v3', 50],
    ])
    const { answers, failures } = await load(fixture.url, { requests: 1_000 })
    assert.deepEqual([...answers.keys()].toSorted(), ['v1', 'v3'])
    assert.deepEqual([...failures, ...(await slow).failures], [])
    await fixture.shiftTo([['v2', 100]])
    const back = await load(fixture.url, { requests: 100 })
    assert.deepEqual([...back.answers], [['v2', 100]])
  })

  test('passes 5xx responses on, and counts them as errors of the version', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    const { failures } = await load(fixture.url, { requests: 100, path: '/fail' })
    assert.deepEqual(new Set(failures), new Set(['500']))
    const versions = await waitForCounters(fixture, 100)
    assert.deepEqual([versions.get('v1')?.errors, versions.get('v2')?.errors], [50, 50])
  })

  test('returns no error after Envoy was killed under load and restarted', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    const kill = (ended: number): void => void (ended % 1_000 === 500 && fixture.envoy.restart())
    const result = await load(fixture.url, { requests: REQUESTS, again: 1_000, progress: kill, body: '{}' })
    const { failures, repeated, slowestMs } = result
    t.diagnostic(`4 times killed: ${failures.length} failed, ${repeated} repeated, the slowest took ${slowestMs} ms`)
    assert.deepEqual(failures, [])
  })

  test('recovers when Envoy or the agent is killed', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 50],
      ['v2', 50],
    ])
    await fixture.agent.kill('SIGKILL')
    await Promise.all([fixture.envoy.restart(), fixture.agent.restart()])
    assert.deepEqual((await load(fixture.url, { requests: 100, again: 1_000 })).failures, [])
    await fixture.agent.restart()
    await until('the new agent to be ready', async () => (await fixture.page('/readyz')).status === 200)
    await fixture.shiftTo([
      ['v1', 0],
      ['v2', 100],
    ])
    assert.deepEqual([...(await load(fixture.url, { requests: 100 })).answers], [['v2', 100]])
  })

  test('Envoy finishes its requests at shutdown, and the agent ends after it', async (t) => {
    const fixture = await twoVersions(t)
    await fixture.shiftTo([
      ['v1', 100],
      ['v2', 0],
    ])
    const slow = load(fixture.url, { requests: 4, connections: 4, path: '/slow' })
    await until('the slow requests to arrive', () => isSlow(fixture.one, 4))
    await fixture.leave()
    const ended = [fixture.agent.kill('SIGTERM'), fixture.envoy.ended()]
    assert.deepEqual((await slow).failures, [])
    assert.deepEqual(await Promise.all(ended), [0, 0])
  })
})
