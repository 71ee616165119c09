import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isSameSplit, soleOf, sum } from '../../traffic/weights.ts'
import { weightsOf } from './weights.ts'

type Percents = Readonly<Record<string, number>>

interface Case {
  readonly name: string
  readonly wanted: Percents
  readonly ready: readonly string[]
  readonly current?: Percents
  readonly gives: Percents | undefined
}

const map = (record: Percents): Map<string, number> => new Map(Object.entries(record))

const cases: readonly Case[] = [
  { name: 'one that is ready gets everything', wanted: { v1: 100 }, ready: ['v1'], gives: { v1: 100 } },
  { name: 'no version ready: no route', wanted: { v1: 100 }, ready: [], gives: undefined },
  {
    name: 'no version ready: the last route stays',
    wanted: { v1: 100 },
    ready: [],
    current: { v1: 100 },
    gives: undefined,
  },
  {
    name: 'the spec at once, where all are ready',
    wanted: { v1: 90, v2: 10 },
    ready: ['v1', 'v2'],
    current: { v1: 100 },
    gives: { v1: 90, v2: 10 },
  },
  {
    name: 'the share of one that is not ready stays',
    wanted: { v1: 90, v2: 10 },
    ready: ['v1'],
    current: { v1: 100 },
    gives: { v1: 100 },
  },
  {
    name: 'also when it had it itself',
    wanted: { v1: 50, v2: 50 },
    ready: ['v1'],
    current: { v1: 50, v2: 50 },
    gives: { v1: 100 },
  },
  {
    name: 'first with versions that are being retired',
    wanted: { v2: 50, v3: 50 },
    ready: ['v1', 'v2'],
    current: { v1: 100 },
    gives: { v1: 50, v2: 50 },
  },
  {
    name: 'all of it while none of the new ones is ready',
    wanted: { v2: 50, v3: 50 },
    ready: ['v0', 'v1'],
    current: { v0: 60, v1: 40 },
    gives: { v0: 60, v1: 40 },
  },
  {
    name: 'then with versions that lose weight',
    wanted: { v1: 10, v2: 90 },
    ready: ['v1'],
    current: { v1: 90, v2: 10 },
    gives: { v1: 100 },
  },
  {
    name: 'else in the ratio of the spec',
    wanted: { v1: 30, v2: 20, v3: 50 },
    ready: ['v1', 'v2'],
    gives: { v1: 60, v2: 40 },
  },
  { name: 'largest remainder', wanted: { v1: 33, v2: 33, v3: 34 }, ready: ['v1', 'v2'], gives: { v1: 50, v2: 50 } },
  {
    name: 'a version of weight 0 takes nothing over',
    wanted: { v1: 100, v2: 0 },
    ready: ['v2'],
    current: { v1: 100 },
    gives: undefined,
  },
  {
    name: 'a version that lost its traffic takes nothing back',
    wanted: { v2: 100 },
    ready: ['v1'],
    current: { v1: 0, v2: 100 },
    gives: undefined,
  },
  {
    name: 'one that comes back gets its share again',
    wanted: { v1: 50, v2: 50 },
    ready: ['v1', 'v2'],
    current: { v1: 100, v2: 0 },
    gives: { v1: 50, v2: 50 },
  },
]

for (const { name, wanted, ready, current = {}, gives } of cases) {
  test(`weights: ${name}`, () => {
    const got = weightsOf({ wanted: map(wanted), ready: new Set(ready), current: map(current) })
    const positive = got && Object.fromEntries([...got].filter(([, weight]) => weight > 0))
    assert.deepEqual(positive, gives)
  })
}

const names = ['v1', 'v2', 'v3', 'v4', 'v5']

/** Whole percents that sum to 100 over some of the versions. */
const division = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }).chain((some) =>
  fc.array(fc.integer({ min: 0, max: 100 }), { minLength: some.length - 1, maxLength: some.length - 1 }).map((cuts) => {
    const sorted = [0, ...cuts.toSorted((one, other) => one - other), 100]
    return new Map(some.map((name, index) => [name, (sorted[index + 1] ?? 0) - (sorted[index] ?? 0)]))
  }),
)
const shares = fc.record({
  wanted: division,
  ready: fc.subarray(names).map((some) => new Set(some)),
  current: fc.oneof(division, fc.constant(new Map<string, number>())),
})
const RUNS = { numRuns: 2000 }

test('weights are whole, sum to 100 and go to ready versions only', () => {
  fc.assert(
    fc.property(shares, (given) => {
      const weights = weightsOf(given)
      if (!weights) return
      assert.equal(sum(weights), 100)
      for (const [name, weight] of weights) {
        assert.ok(Number.isInteger(weight) && weight >= 0)
        assert.ok(weight === 0 || given.ready.has(name))
      }
    }),
    RUNS,
  )
})

test('a version that is ready never gets less than the spec gives it', () => {
  fc.assert(
    fc.property(shares, ({ wanted, ready, current }) => {
      const weights = weightsOf({ wanted, ready, current })
      for (const [name, weight] of wanted) if (weights && ready.has(name)) assert.ok((weights.get(name) ?? 0) >= weight)
    }),
    RUNS,
  )
})

test('deciding again on what was decided changes nothing', () => {
  fc.assert(
    fc.property(shares, (given) => {
      const weights = weightsOf(given)
      const again = weights && weightsOf({ ...given, current: weights })
      assert.ok(!weights || (again && isSameSplit(weights, again)))
    }),
    RUNS,
  )
})

test('where all are ready, the spec is all that counts', () => {
  fc.assert(
    fc.property(shares, ({ wanted, current }) => {
      const weights = weightsOf({ wanted, ready: new Set(names), current })
      assert.ok(weights && isSameSplit(weights, wanted))
    }),
    RUNS,
  )
})

test('there is a decision whenever a ready version has weight, in the spec or now', () => {
  fc.assert(
    fc.property(shares, ({ wanted, ready, current }) => {
      const some = [...wanted, ...current].some(([name, weight]) => weight > 0 && ready.has(name))
      assert.equal(weightsOf({ wanted, ready, current }) !== undefined, some)
    }),
    RUNS,
  )
})

test('the one that gets everything', () => {
  assert.equal(soleOf(map({ v1: 0, v2: 100 })), 'v2')
  assert.equal(soleOf(map({ v1: 1, v2: 99 })), undefined)
  assert.equal(soleOf(new Map()), undefined)
})
