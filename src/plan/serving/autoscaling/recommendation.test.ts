/** The algorithm of the HorizontalPodAutoscaler: examples of its documentation, and properties. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { array, assert as check, double, integer, property, record as recordOf, tuple } from 'fast-check'
import type { VersionAutoscaling } from '../../../api/autoscaling-status.ts'
import { timestamp } from '../../time.ts'
import { type Demand, type Load, neededPods, nextRecord } from './recommendation.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const bounds = { minReplicas: 1, maxReplicas: 100 }
const at = (seconds: number): string => timestamp(NOW + seconds * 1_000)

describe('the number of pods for a load', () => {
  const cases: readonly (readonly [what: string, current: number, loads: readonly Load[], gives: number])[] = [
    ['twice the target doubles it', 3, [{ total: 600, target: 100 }], 6],
    ['half of the target halves it', 4, [{ total: 200, target: 100 }], 2],
    ['it is rounded up', 3, [{ total: 401, target: 100 }], 5],
    ['a tenth more changes nothing', 10, [{ total: 1_100, target: 100 }], 10],
    ['a tenth less changes nothing', 10, [{ total: 900, target: 100 }], 10],
    ['more than a tenth does', 10, [{ total: 1_101, target: 100 }], 12],
    [
      'the highest of several counts',
      2,
      [
        { total: 10, target: 10 },
        { total: 70, target: 10 },
      ],
      7,
    ],
    ['no requests need no pod', 3, [{ total: 0, target: 10 }], 0],
    ['an error of rounding is no load', 1, [{ total: 30.000_000_01, target: 10 }], 3],
    ['from nothing', 0, [{ total: 25, target: 10 }], 3],
  ]
  for (const [what, current, loads, gives] of cases) test(what, () => assert.equal(neededPods(current, loads), gives))
})

/** Runs the loads of a model one after another, `seconds` apart, and returns the numbers of pods. */
function run(loads: readonly (number | undefined)[], { seconds = 15, replicas = 1, isComplete = true } = {}): number[] {
  let record: VersionAutoscaling = { replicas }
  return loads.map((total, index) => {
    const load = total === undefined ? {} : { loads: [{ total, target: 1 }] }
    record = nextRecord(record, { ...bounds, ...load, isComplete, now: NOW + index * seconds * 1_000 })
    return record.replicas
  })
}

describe('the pace', () => {
  test('a version grows by four pods or to twice its size within 15 seconds', () =>
    assert.deepEqual(run(Array.from({ length: 7 }, () => 100)), [5, 10, 20, 40, 80, 100, 100]))

  test('however often it is looked at', () =>
    assert.deepEqual(
      run(
        Array.from({ length: 8 }, () => 100),
        { seconds: 5 },
      ),
      [5, 5, 5, 10, 10, 10, 20, 20],
    ))

  test('it shrinks to what was needed within the last five minutes', () => {
    const pods = run([10, ...Array.from({ length: 30 }, () => 2)], { replicas: 10 })
    assert.deepEqual([pods[20], pods[21], pods.at(-1)], [10, 2, 2])
  })

  test('a short peak keeps its pods for five minutes', () => {
    const pods = run([...Array.from({ length: 15 }, () => 2), 6, ...Array.from({ length: 40 }, () => 2)], {
      replicas: 10,
    })
    assert.deepEqual([pods[19], pods[20], pods[35], pods[36]], [10, 6, 6, 2])
  })

  test('a load that is unknown changes nothing, and one that is incomplete removes nothing', () => {
    assert.deepEqual(run([undefined, undefined], { replicas: 7 }), [7, 7])
    assert.equal(
      run(
        Array.from({ length: 40 }, () => 1),
        { replicas: 7, isComplete: false },
      ).at(-1),
      7,
    )
    assert.equal(run([9], { replicas: 7, isComplete: false }).at(-1), 9)
  })

  test('a number outside of the bounds is corrected at once, whatever the load', () => {
    const narrow = { minReplicas: 2, maxReplicas: 3, isComplete: false, now: NOW }
    assert.equal(nextRecord({ replicas: 9 }, narrow).replicas, 3)
    assert.equal(nextRecord({ replicas: 1 }, narrow).replicas, 2)
  })

  test('a change is recorded with its time, and an old one is dropped with the next', () => {
    const demand = { ...bounds, isComplete: true, loads: [{ total: 8, target: 1 }] }
    const once = nextRecord({ replicas: 8, changes: [{ time: at(-30), pods: 4 }] }, { ...demand, now: NOW })
    assert.deepEqual(once, { replicas: 8, changes: [{ time: at(-30), pods: 4 }] })
    const grown = nextRecord(once, { ...demand, loads: [{ total: 12, target: 1 }], now: NOW })
    assert.deepEqual(grown, { replicas: 12, changes: [{ time: at(0), pods: 4 }] })
  })
})

const record = recordOf({ replicas: integer({ min: 0, max: 200 }) })
const limits = tuple(integer({ min: 1, max: 50 }), integer({ min: 0, max: 50 })).map(([low, more]) => ({
  minReplicas: low,
  maxReplicas: low + more,
}))
const totals = array(double({ min: 0, max: 300, noNaN: true }), { minLength: 1, maxLength: 60 })

/** The records of a model under these loads, 15 seconds apart. */
function history(
  first: VersionAutoscaling,
  loads: readonly number[],
  demand: Pick<Demand, 'minReplicas' | 'maxReplicas'>,
) {
  const records = [first]
  for (const [index, total] of loads.entries())
    records.push(
      nextRecord(records.at(-1) ?? first, {
        ...demand,
        loads: [{ total, target: 2 }],
        isComplete: true,
        now: NOW + index * 15_000,
      }),
    )
  return records.slice(1)
}

describe('always', () => {
  test('the number is within its bounds, and the record is small', () =>
    check(
      property(record, totals, limits, (first, loads, limit) => {
        for (const { replicas, changes = [], lower = [] } of history(first, loads, limit)) {
          assert.ok(replicas >= limit.minReplicas && replicas <= limit.maxReplicas)
          assert.ok(changes.length <= 16 && lower.length <= 16)
          assert.ok(lower.every((step) => step.replicas < replicas))
        }
      }),
    ))

  test('more load never gives fewer pods', () =>
    check(
      property(record, totals, double({ min: 1, max: 3, noNaN: true }), (first, loads, factor) => {
        const less = neededPods(first.replicas, [{ total: loads[0] ?? 0, target: 2 }])
        const more = neededPods(first.replicas, [{ total: (loads[0] ?? 0) * factor, target: 2 }])
        assert.ok(more >= less, `${less} pods, and ${more} with more load`)
      }),
    ))

  test('the number settles at constant load, and then nothing is recorded any more', () =>
    check(
      property(record, double({ min: 0, max: 100, noNaN: true }), limits, (first, load, limit) => {
        const records = history(
          first,
          Array.from({ length: 60 }, () => load),
          limit,
        )
        assert.deepEqual(records.at(-1), records.at(-2))
        const settled = records.slice(30).map(({ replicas }) => replicas)
        assert.equal(new Set(settled).size, 1, settled.join(' '))
      }),
    ))
})
