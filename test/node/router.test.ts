/** A real HAProxy, steered by the agent: what no simulation can promise about weights, retries and live changes. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { load } from '../load.ts'
import { type RouterStage, routerStage, type Running } from '../router-stage.ts'
import { until } from '../until.ts'

const REQUESTS = 4_000

async function twoVersions(t: TestContext) {
  const stage = await routerStage(t)
  const one = await stage.version('v1')
  const other = await stage.version('v2')
  return { ...stage, one, other }
}

/** A weight that changes in the middle of a round leaves at most a round unfinished. */
function assertDivided(answers: ReadonlyMap<string, number>, version: string, percent: number): void {
  const share = ((answers.get(version) ?? 0) * 100) / REQUESTS
  assert.ok(Math.abs(share - percent) < 0.5, `${version} got ${share} % instead of ${percent} %`)
}

/** So many slow requests have reached the version. */
const isSlow = (version: Running, count: number): boolean => version.log().split('slow\n').length > count

/** Everything that was sent is told of a moment after it has ended. */
async function counted({ report }: RouterStage, requests: number) {
  return until(`${requests} requests to be counted`, async () => {
    const { versions } = await report()
    const sum = versions.reduce((total, version) => total + version.requests, 0)
    return sum === requests && new Map(versions.map((version) => [version.version, version]))
  })
}

describe('a router on this machine', () => {
  test('divides exactly as it is told, live, and counts every request', async (t) => {
    const stage = await twoVersions(t)
    const { turn, url, haproxy } = stage
    assert.equal((await stage.page('/readyz')).status, 503)
    const pid = haproxy.pid
    let sent = 0
    for (const [first, second] of [
      [90, 10],
      [50, 50],
      [0, 100],
      [100, 0],
    ] as const) {
      const ms = await turn([
        ['v1', first],
        ['v2', second],
      ])
      assert.equal((await stage.page('/readyz')).status, 200)
      const { answers, failures, seconds } = await load(url, { requests: REQUESTS })
      sent += REQUESTS
      t.diagnostic(
        `${first}/${second}: ${JSON.stringify([...answers])}, in effect after ${ms} ms, ${Math.round(REQUESTS / seconds)} requests/s`,
      )
      assert.deepEqual(failures, [])
      assertDivided(answers, 'v1', first)
      assertDivided(answers, 'v2', second)
    }
    const versions = await counted(stage, sent)
    assert.equal(versions.get('v1')?.errors, 0)
    assert.ok((versions.get('v1')?.latencyMsP99 ?? -1) >= (versions.get('v1')?.latencyMsP50 ?? Infinity))
    assert.match((await stage.page('/metrics')).text, /^model_router_requests_total\{version="v2"\} \d+$/m)
    assert.equal(haproxy.pid, pid)
    assert.ok(haproxy.isRunning())
  })

  test('a weight that changes under load costs no request', async (t) => {
    const { turn, write, url } = await twoVersions(t)
    await turn([
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

  test('a version killed under load costs no request: another answers', async (t) => {
    const { turn, url, other } = await twoVersions(t)
    await turn([
      ['v1', 50],
      ['v2', 50],
    ])
    const kill = (ended: number): void => void (ended === 1_000 && other.kill('SIGKILL'))
    const { answers, failures } = await load(url, { requests: REQUESTS, progress: kill, body: '{"features":[1,2]}' })
    t.diagnostic(`killed at 1000 of ${REQUESTS}: ${JSON.stringify([...answers])}`)
    assert.deepEqual(failures, [])
    assert.equal(other.isRunning(), false)
  })

  test('the only version restarted under load costs no request: they wait', async (t) => {
    const stage = await routerStage(t)
    const only = await stage.version('v1')
    await stage.turn([['v1', 100]])
    const restart = (ended: number): void => void (ended === 500 && only.restart())
    const { failures } = await load(stage.url, { requests: 1_000, progress: restart, body: '{}' })
    assert.deepEqual(failures, [])
  })

  test('versions come and go live; one that goes ends what it has', async (t) => {
    const stage = await twoVersions(t)
    await stage.turn([
      ['v1', 0],
      ['v2', 100],
    ])
    const slow = load(stage.url, { requests: 4, connections: 4, path: '/slow' })
    await until('the slow requests to arrive', () => isSlow(stage.other, 4))
    await stage.version('v3')
    await stage.turn([
      ['v1', 50],
      ['v3', 50],
    ])
    const { answers, failures } = await load(stage.url, { requests: 1_000 })
    assert.deepEqual([...answers.keys()].toSorted(), ['v1', 'v3'])
    assert.deepEqual([...failures, ...(await slow).failures], [])
    await stage.turn([['v2', 100]])
    const back = await load(stage.url, { requests: 100 })
    assert.deepEqual([...back.answers], [['v2', 100]])
  })

  test('answers of 5xx are answers: passed on, and counted as failures of the version', async (t) => {
    const stage = await twoVersions(t)
    await stage.turn([
      ['v1', 50],
      ['v2', 50],
    ])
    const { failures } = await load(stage.url, { requests: 100, path: '/fail' })
    assert.deepEqual(new Set(failures), new Set(['500']))
    const versions = await counted(stage, 100)
    assert.deepEqual([versions.get('v1')?.errors, versions.get('v2')?.errors], [50, 50])
  })

  test('HAProxy killed under load: whoever reaches the next one is answered by a version', async (t) => {
    const stage = await twoVersions(t)
    await stage.turn([
      ['v1', 50],
      ['v2', 50],
    ])
    const kill = (ended: number): void => void (ended % 1_000 === 500 && stage.haproxy.restart())
    const result = await load(stage.url, { requests: REQUESTS, again: 1_000, progress: kill, body: '{}' })
    const { failures, repeated, slowestMs } = result
    t.diagnostic(`4 times killed: ${failures.length} failed, ${repeated} repeated, the slowest took ${slowestMs} ms`)
    assert.deepEqual(failures, [])
  })

  test('whichever of the two dies, the pair heals', async (t) => {
    const stage = await twoVersions(t)
    await stage.turn([
      ['v1', 50],
      ['v2', 50],
    ])
    await stage.agent.kill('SIGKILL')
    await Promise.all([stage.haproxy.restart(), stage.agent.restart()])
    assert.deepEqual((await load(stage.url, { requests: 100, again: 1_000 })).failures, [])
    await stage.agent.restart()
    await until('the new agent to be ready', async () => (await stage.page('/readyz')).status === 200)
    await stage.turn([
      ['v1', 0],
      ['v2', 100],
    ])
    assert.deepEqual([...(await load(stage.url, { requests: 100 })).answers], [['v2', 100]])
  })

  test('asked to end, HAProxy finishes what it has, and the agent goes after it', async (t) => {
    const stage = await twoVersions(t)
    await stage.turn([
      ['v1', 100],
      ['v2', 0],
    ])
    const slow = load(stage.url, { requests: 4, connections: 4, path: '/slow' })
    await until('the slow requests to arrive', () => isSlow(stage.one, 4))
    const ended = [stage.agent.kill('SIGTERM'), stage.haproxy.kill('SIGUSR1')]
    assert.deepEqual((await slow).failures, [])
    assert.deepEqual(await Promise.all(ended), [0, 0])
  })
})
