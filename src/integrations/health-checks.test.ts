import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObjectKey } from '../kube/object.ts'
import { HealthChecks, type HealthChecksOptions, type HealthTarget } from './health-checks.ts'
import type { HealthRequest, HealthResult } from './health-request.ts'

const KEY: ObjectKey = { namespace: 'team-a', name: 'iris' }
const INTERVAL = 10_000

const target = (uid: string, more: Partial<HealthTarget> = {}): HealthTarget => ({
  uid,
  address: '10.0.0.1',
  port: 8080,
  path: '/health',
  timeoutMs: 1_000,
  intervalMs: INTERVAL,
  threshold: 3,
  ...more,
})

/** A clock that moves only by `advance`. */
class Timers {
  #now = 0
  readonly #timers = new Map<object, { readonly at: number; readonly callback: () => void }>()

  get pendingTimers(): number {
    return this.#timers.size
  }

  monotonic(): number {
    return this.#now
  }

  setTimeout(callback: () => void, ms: number): () => void {
    const id = {}
    this.#timers.set(id, { at: this.#now + ms, callback })
    return () => void this.#timers.delete(id)
  }

  advance(ms: number): void {
    this.#now += ms
    for (const [id, { at, callback }] of this.#timers) {
      if (at > this.#now) continue
      this.#timers.delete(id)
      callback()
    }
  }
}

const FAILED: HealthResult = { outcome: 'failed', answer: 'answered HTTP 500' }
const UNREACHABLE: HealthResult = { outcome: 'unreachable' }
const PASSED: HealthResult = { outcome: 'passed' }

function world(options: Partial<HealthChecksOptions> = {}) {
  const clock = new Timers()
  const wakes: ObjectKey[] = []
  const requests: HealthRequest[] = []
  const script: HealthResult[] = []
  const check = (request: HealthRequest): Promise<HealthResult> => {
    requests.push(request)
    return Promise.resolve(script.shift() ?? PASSED)
  }
  const checks = new HealthChecks({ clock, check, random: () => 0.5, ...options })
  checks.onChange((key) => wakes.push(key))
  const follow = (...targets: HealthTarget[]) => checks.follow('v1', KEY, targets)
  /** One check of each pod. */
  const round = async (): Promise<void> => {
    clock.advance(INTERVAL)
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return { clock, checks, wakes, requests, script, follow, round }
}

describe('health checks', () => {
  test('count failures in a row, and report when the threshold is reached and when it is left', async () => {
    const { script, follow, round, wakes } = world()
    script.push(PASSED, FAILED, FAILED, FAILED, FAILED, PASSED)
    follow(target('a'))
    for (let count = 0; count < 3; count += 1) await round()
    assert.deepEqual(wakes, [])
    await round()
    assert.deepEqual(wakes, [KEY])
    assert.deepEqual(follow(target('a')).get('a'), {
      path: '/health',
      failures: 3,
      misses: 0,
      hasPassed: true,
      answer: 'answered HTTP 500',
    })
    await round()
    assert.deepEqual(wakes, [KEY])
    await round()
    assert.deepEqual(wakes, [KEY, KEY])
    assert.deepEqual(follow(target('a')).get('a'), { path: '/health', failures: 0, misses: 0, hasPassed: true })
  })

  test('a check without a connection neither counts as a failure nor ends the row', async () => {
    const { script, follow, round } = world()
    script.push(FAILED, UNREACHABLE, UNREACHABLE, UNREACHABLE, FAILED)
    follow(target('a'))
    for (let count = 0; count < 4; count += 1) await round()
    const { failures, misses, hasPassed } = follow(target('a')).get('a') ?? {}
    assert.deepEqual({ failures, misses, hasPassed }, { failures: 1, misses: 3, hasPassed: false })
    await round()
    assert.equal(follow(target('a')).get('a')?.failures, 2)
  })

  test('another address or port is another server: what was known is forgotten', async () => {
    const { script, follow, round } = world()
    script.push(FAILED)
    follow(target('a'))
    await round()
    assert.equal(follow(target('a')).get('a')?.failures, 1)
    assert.equal(follow(target('a', { address: '10.0.0.2' })).get('a')?.failures, 0)
  })

  test('are spread over the interval', () => {
    let next = 0
    const { clock, checks, requests } = world({ random: () => (next += 0.1) - 0.1 })
    const pods = Array.from({ length: 10 }, (_, index) => target(`p${index}`))
    checks.follow('v1', KEY, pods)
    clock.advance(4_500)
    assert.equal(requests.length, 5)
  })

  test('pods that are gone, forgotten models and a closed object are not checked', async () => {
    const { checks, clock, requests, follow, round } = world()
    follow(target('a'), target('b'))
    follow(target('a'))
    assert.equal(checks.size, 1)
    checks.forget('v1', KEY)
    follow(target('c'))
    checks.close()
    assert.deepEqual([checks.size, clock.pendingTimers], [0, 0])
    await round()
    assert.equal(requests.length, 0)
  })

  test('a result that arrives after its pod was forgotten changes nothing', async () => {
    const pending = Promise.withResolvers<HealthResult>()
    const { checks, clock, follow, wakes } = world({ check: () => pending.promise })
    follow(target('a', { threshold: 1 }))
    clock.advance(INTERVAL)
    checks.forget('v1', KEY)
    pending.resolve(FAILED)
    await pending.promise
    await Promise.resolve()
    assert.deepEqual([wakes, clock.pendingTimers], [[], 0])
  })

  test('connect only to addresses that a pod can have', async () => {
    const { follow, round, requests, checks } = world()
    follow(target('a', { address: '169.254.169.254' }), target('b', { address: '127.0.0.1' }))
    await round()
    assert.deepEqual([checks.size, requests.length], [0, 0])
  })

  test('a model with pods that hang keeps its limit, and others are still checked', async () => {
    const asked: string[] = []
    const check = (request: HealthRequest): Promise<HealthResult> => {
      asked.push(request.path)
      return request.path === '/hangs' ? new Promise(() => undefined) : Promise.resolve(PASSED)
    }
    const { checks, round } = world({ check, maxRunningOfModel: 2, maxRunning: 8 })
    checks.follow(
      'v1',
      { namespace: 'team-b', name: 'slow' },
      Array.from({ length: 20 }, (_, index) => target(`s${index}`, { path: '/hangs' })),
    )
    checks.follow('v1', KEY, [target('a')])
    await round()
    await round()
    assert.equal(asked.filter((path) => path === '/hangs').length, 2)
    assert.ok(asked.filter((path) => path === '/health').length >= 1)
  })

  test('not more than a number of checks start in a second', async () => {
    const { checks, clock, requests } = world({ maxPerSecond: 3, maxRunningOfModel: 100 })
    checks.follow(
      'v1',
      KEY,
      Array.from({ length: 10 }, (_, index) => target(`p${index}`)),
    )
    clock.advance(INTERVAL / 2)
    assert.equal(requests.length, 3)
  })
})
