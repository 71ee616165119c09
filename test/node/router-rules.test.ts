/** Rules of a real Envoy, configured by the agent: copies of requests, testers, and clients that stay with a version. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { load } from '../fixtures/load.ts'
import { type RouterFixture, routerFixture } from '../fixtures/router.ts'
import { until } from '../timing/until.ts'

const REQUESTS = 1_000

async function twoVersions(t: TestContext): Promise<RouterFixture> {
  const fixture = await routerFixture(t)
  for (const name of ['v1', 'v2']) await fixture.version(name)
  return fixture
}

async function answer(url: string, headers: Record<string, string>) {
  return { version: await (await fetch(url, { headers })).text() }
}

/** Whether each of 20 clients, which differ in their cookie, always gets the same version. */
async function keepsClients(url: string): Promise<boolean> {
  for (let user = 0; user < 20; user += 1) {
    const versions = new Set<string>()
    for (let index = 0; index < 5; index += 1)
      versions.add((await answer(url, { cookie: `a=b; session=${user}` })).version)
    if (versions.size > 1) return false
  }
  return true
}

const countersOf = async ({ report }: RouterFixture, name: string) =>
  (await report()).versions.find(({ version }) => version === name)

describe('rules of a router on this machine', () => {
  test('copies requests to a version of weight 0, counts them, and no client gets its responses', async (t) => {
    const fixture = await twoVersions(t)
    const all = [
      ['v1', 100],
      ['v2', 0],
    ] as const
    await fixture.shiftTo(all, { mirror: { version: 'v2', percent: 100 } })
    const { answers, failures } = await load(fixture.url, { requests: REQUESTS, body: '{"features":[1]}' })
    assert.deepEqual([[...answers], failures], [[['v1', REQUESTS]], []])
    const copied = await until('the copies to be counted', async () => {
      const found = await countersOf(fixture, 'v2')
      return found?.requests === REQUESTS && found
    })
    assert.deepEqual([copied.weight, copied.errors, copied.latencyMsSum > 0], [0, 0, true])
    assert.equal((await countersOf(fixture, 'v1'))?.requests, REQUESTS)
    const half = await load(fixture.url, { requests: 100, path: '/fail' })
    assert.equal(half.failures.length, 100)
    await until('failed copies to be counted', async () => (await countersOf(fixture, 'v2'))?.errors === 100)
  })

  test('a version that crashes on copies costs no client a response', async (t) => {
    const fixture = await routerFixture(t)
    await fixture.version('v1')
    const other = await fixture.version('v2')
    const all = [
      ['v1', 100],
      ['v2', 0],
    ] as const
    await fixture.shiftTo(all, { mirror: { version: 'v2', percent: 100 } })
    const kill = (ended: number): void => void (ended === 200 && other.kill('SIGKILL'))
    const { answers, failures } = await load(fixture.url, { requests: REQUESTS, progress: kill })
    assert.deepEqual([[...answers], failures], [[['v1', REQUESTS]], []])
  })

  test('sends requests with a header or cookie to a version of weight 0', async (t) => {
    const fixture = await twoVersions(t)
    const rules = {
      match: [
        { version: 'v2', header: { name: 'X-Tester', value: 'yes' } },
        { version: 'v2', cookie: { name: 'tester', value: 'a.b' } },
      ],
    }
    const all = [
      ['v1', 100],
      ['v2', 0],
    ] as const
    await fixture.shiftTo(all, rules)
    const cases = [
      [{}, 'v1'],
      [{ 'x-tester': 'yes' }, 'v2'],
      [{ 'x-tester': 'no' }, 'v1'],
      [{ cookie: 'a=1; tester=a.b; z=2' }, 'v2'],
      [{ cookie: 'a=1; xtester=a.b' }, 'v1'],
    ] as const
    for (const [headers, version] of cases) assert.equal((await answer(fixture.url, headers)).version, version)
    await until('the tests to be counted', async () => (await countersOf(fixture, 'v2'))?.requests === 2)
    await fixture.shiftTo(all)
    await until('the rules to go', async () => (await answer(fixture.url, { 'x-tester': 'yes' })).version === 'v1')
  })

  test('keeps a client with a version, and splits clients by weight', async (t) => {
    const fixture = await twoVersions(t)
    const split = [
      ['v1', 70],
      ['v2', 30],
    ] as const
    await fixture.shiftTo(split, { stickiness: { header: 'x-user' } })
    const counts = new Map<string, number>()
    for (let user = 0; user < 400; user += 1) {
      const first = await answer(fixture.url, { 'x-user': `user-${user}` })
      if (user < 50) assert.equal((await answer(fixture.url, { 'x-user': `user-${user}` })).version, first.version)
      counts.set(first.version, (counts.get(first.version) ?? 0) + 1)
    }
    t.diagnostic(`400 clients at 70/30: ${JSON.stringify([...counts])}`)
    assert.ok(Math.abs((counts.get('v1') ?? 0) - 280) < 40)
    await fixture.shiftTo(split, { stickiness: { cookie: 'session' } })
    // The weights are those of before, so the report does not show when the new rule is in effect.
    await until('clients with a cookie to be kept', () => keepsClients(fixture.url))
    assert.ok(await keepsClients(fixture.url))
  })
})
