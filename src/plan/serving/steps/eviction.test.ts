/** Which sick pods are evicted, and when: recorded first, one at a time, never the last ready one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { at } from '../../../../test/sim/model-view.ts'
import { type PodSeen, sickObserved, type SickSeen, storing } from '../../../../test/sim/sick-pods.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { fits } from '../../../api/validity.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'
import { LAST_RESORT_MS, MAX_EVICTIONS } from './eviction.ts'

const well = (name: string): PodSeen => ({ name, failures: 0 })
const sick = (name: string): PodSeen => ({ name, failures: 3 })

function decided(observed: ServingObserved) {
  const plan = planServing(observed)
  const [version] = plan.status?.activeVersions ?? []
  const { conditions: _stampedLater, ...status } = plan.status ?? {}
  assert.ok(fits(modelDeploymentV1.status, status), JSON.stringify(status))
  return {
    plan,
    version,
    health: version?.health,
    evicted: objectsToDelete(plan, 'evict').map(({ metadata }) => metadata.name),
    healthy: plan.status?.conditions?.find(({ type }) => type === 'Healthy'),
    events: plan.events.map(({ reason }) => reason),
  }
}

const evicting = (pod: string, reason: 'HealthCheckFailing' | 'TooManyRestarts' = 'HealthCheckFailing') => ({
  health: { evicting: { pod, uid: `uid-${pod}`, reason, message: 'seen' } },
})

describe('a sick pod', () => {
  test('is recorded first and evicted by the next plan', () => {
    const observed = sickObserved({ pods: [sick('a'), well('b'), well('c'), well('d'), well('e')] })
    const first = decided(observed)
    assert.deepEqual(first.evicted, [])
    assert.deepEqual(first.health, {
      failing: 1,
      evicting: {
        pod: 'a',
        uid: 'uid-a',
        reason: 'HealthCheckFailing',
        message: '/health answered HTTP 500, at least 3 times in a row',
      },
    })
    const second = decided(storing(observed, first.plan.status))
    assert.deepEqual(second.evicted, ['a'])
    assert.deepEqual(second.plan.status?.activeVersions, first.plan.status?.activeVersions)
    assert.deepEqual(second.events, [])
  })

  test('that is gone is counted, with an event, and the next one waits', () => {
    const gone = decided(sickObserved({ pods: [well('b'), sick('c')], recorded: evicting('a') }))
    assert.deepEqual(gone.health, { failing: 1, evictions: 1, lastEvictionTime: at(0) })
    assert.ok(gone.events.includes('PodEvicted'))
    const later = (now: number) =>
      decided(sickObserved({ pods: [well('b'), sick('c')], recorded: { health: gone.health ?? {} }, now }))
    assert.equal(later(59).health?.evicting, undefined)
    assert.equal(later(59).plan.requeueAfterMs, 1_000)
    assert.equal(later(60).health?.evicting?.pod, 'c')
  })

  test('that is terminating counts as gone', () => {
    const pods = [{ ...sick('a'), isTerminating: true }, well('b')]
    const { evicted, health } = decided(sickObserved({ pods, recorded: evicting('a') }))
    assert.deepEqual([evicted, health?.evictions], [[], 1])
  })

  test('that recovers is not evicted', () => {
    const { evicted, health } = decided(sickObserved({ pods: [well('a'), well('b')], recorded: evicting('a') }))
    assert.deepEqual([evicted, health], [[], undefined])
  })

  test('of which nothing is known, because the operator restarted, is evicted as recorded', () => {
    const { evicted } = decided(sickObserved({ pods: [{ name: 'a' }, well('b')], recorded: evicting('a') }))
    assert.deepEqual(evicted, ['a'])
  })

  const unjudged: readonly (readonly [string, PodSeen])[] = [
    ['has failed less often than failureThreshold', { name: 'a', failures: 2 }],
    ['never passed a check of the operator, and is ready', { name: 'a', failures: 9, hasPassed: false }],
    ['cannot be connected to', { name: 'a', failures: 0, misses: 99, hasPassed: false }],
    ['restarted five times', { name: 'a', failures: 0, restarts: 5 }],
  ]
  for (const [what, pod] of unjudged)
    test(`is not one that ${what}`, () => {
      const { health, healthy } = decided(sickObserved({ pods: [pod, well('b')] }))
      assert.deepEqual([health?.failing, health?.evicting, healthy?.status], [undefined, undefined, 'True'])
    })

  test('is one that failed and is not ready, although it never passed', () => {
    const pods = [{ name: 'a', failures: 3, hasPassed: false, isReady: false }, well('b')]
    assert.equal(decided(sickObserved({ pods })).health?.evicting?.pod, 'a')
  })

  test('is one that restarted more than five times, unless that was long ago', () => {
    const pods = [{ name: 'a', failures: 0, restarts: 6 }, well('b')]
    assert.equal(decided(sickObserved({ pods })).health?.evicting?.reason, 'TooManyRestarts')
    assert.equal(decided(sickObserved({ pods, now: 3_601 })).health, undefined)
  })
})

describe('no pod is evicted', () => {
  const held: readonly (readonly [string, SickSeen, RegExp])[] = [
    ['if it is the last ready one', { pods: [sick('a')] }, /the last ready pod stays/],
    [
      'if all others are not ready',
      { pods: [sick('a'), { ...sick('b'), isReady: false }], recorded: evicting('a') },
      /one of them is evicted next/,
    ],
    ['while another one starts', { pods: [sick('a'), well('b'), { name: 'c', isReady: false }] }, /being replaced/],
    [
      'after ten evictions one after another',
      {
        pods: [sick('a'), sick('b')],
        recorded: { health: { evictions: MAX_EVICTIONS, lastEvictionTime: at(-7_200) } },
      },
      /10 pods in a row had to be evicted/,
    ],
  ]
  for (const [what, seen, message] of held)
    test(what, () => {
      const { evicted, health, plan, version } = decided(sickObserved(seen))
      assert.deepEqual([evicted, health?.evicting], [[], undefined])
      assert.match(version?.message ?? '', message)
      assert.equal(plan.status?.phase, 'Degraded')
    })

  test('of a version that was never ready', () => {
    const seen = { pods: [{ name: 'a', isReady: false, restarts: 9 }], recorded: { hasBeenReady: undefined } }
    assert.equal(decided(sickObserved(seen)).health?.evicting, undefined)
  })

  test('the delay doubles up to an hour, and starts again after six hours', () => {
    const after = (evictions: number, seconds: number): boolean => {
      const recorded = { health: { evictions, lastEvictionTime: at(-seconds) } }
      return decided(sickObserved({ pods: [sick('a'), well('b')], recorded })).health?.evicting !== undefined
    }
    for (const [evictions, seconds] of [
      [1, 60],
      [2, 120],
      [5, 960],
      [9, 3_600],
      [MAX_EVICTIONS, 21_600],
    ] as const)
      assert.deepEqual([after(evictions, seconds - 1), after(evictions, seconds)], [false, true], `${evictions}`)
  })
})

test('with all pods sick and none ready, one is evicted as the last resort', () => {
  const pods = ['a', 'b'].map((name) => ({ ...sick(name), isReady: false, unreadySince: 0 }))
  const before = decided(sickObserved({ pods, now: LAST_RESORT_MS / 1000 - 1 }))
  assert.deepEqual([before.health?.evicting, before.plan.requeueAfterMs], [undefined, 1_000])
  assert.equal(decided(sickObserved({ pods, now: LAST_RESORT_MS / 1000 })).health?.evicting?.pod, 'a')
})

describe('the condition Healthy', () => {
  const of = (...pods: PodSeen[]) => decided(sickObserved({ pods })).healthy

  test('holds with four of five healthy pods, and not with three', () => {
    assert.equal(of(sick('a'), well('b'), well('c'), well('d'), well('e'))?.status, 'True')
    assert.equal(of(sick('a'), well('b'), well('c'), well('d'), well('e'))?.message, '4 of 5 pods are healthy')
    const three = of(sick('a'), sick('b'), well('c'), well('d'), well('e'))
    assert.deepEqual([three?.status, three?.reason], ['False', 'HealthCheckFailing'])
    assert.match(three?.message ?? '', /^3 of 5 pods are healthy: v1: 2 of 5 pods are unhealthy \(a: \/health answered/)
  })

  test('says which pods could not be checked', () => {
    const away = { name: 'a', failures: 0, misses: 3, hasPassed: false }
    const { status, message } = of(away, well('b')) ?? {}
    assert.equal(status, 'True')
    assert.match(message ?? '', /cannot connect to 1 pod /)
  })
})
