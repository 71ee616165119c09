import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costConfigProblem, defaultCostConfig, defaultSpotConfig } from './cost-config.ts'

const problemOf = (cost: object, spotLabels: unknown = defaultSpotConfig.spotLabels): string | undefined =>
  costConfigProblem({ ...defaultCostConfig, ...cost }, { spotLabels: spotLabels as never })

test('accepts the defaults, and prices of every form', () => {
  assert.equal(problemOf({}), undefined)
  const prices = [
    { nodeLabels: { 'node.kubernetes.io/instance-type': 'p5' }, spot: true, gpuHour: 2.5 },
    { cpuHour: 0 },
  ]
  assert.equal(problemOf({ currency: 'EUR', prices }), undefined)
})

const wrong: readonly [object, string][] = [
  [{ curency: 'EUR' }, 'cost.curency is unknown'],
  [{ currency: '€' }, 'cost.currency must be a code of three capital letters'],
  [{ currency: 5 }, 'cost.currency must be a code of three capital letters'],
  [{ prices: {} }, 'cost.prices must be a list'],
  [{ prices: [{ gpuHour: 1 }, 5] }, 'cost.prices[1] must be a map'],
  [{ prices: [null] }, 'cost.prices[0] must be a map'],
  [{ prices: [{ gpuhour: 1 }] }, 'cost.prices[0].gpuhour is unknown'],
  [{ prices: [{ gpuHour: '2 USD' }] }, 'cost.prices[0].gpuHour must be a number'],
  [{ prices: [{ cpuHour: -1 }] }, 'cost.prices[0].cpuHour must be a number from 0'],
  [{ prices: [{ cpuHour: NaN }] }, 'cost.prices[0].cpuHour must be a number'],
  [{ prices: [{ memoryGiBHour: Infinity }] }, 'cost.prices[0].memoryGiBHour must be a number'],
  [{ prices: [{ spot: 'yes', gpuHour: 1 }] }, 'cost.prices[0].spot must be true or false'],
  [{ prices: [{ nodeLabels: ['a'], gpuHour: 1 }] }, 'cost.prices[0].nodeLabels must be a map'],
  [{ prices: [{ nodeLabels: { 'a b': 'c' }, gpuHour: 1 }] }, 'cost.prices[0].nodeLabels must be a map'],
  [{ prices: [{ nodeLabels: { a: true }, gpuHour: 1 }] }, 'cost.prices[0].nodeLabels must be a map'],
  [{ prices: [{ spot: true }] }, 'cost.prices[0] has no price: set one of gpuHour, cpuHour, memoryGiBHour'],
]

for (const [cost, expected] of wrong)
  test(`names the setting and the fix: ${JSON.stringify(cost)}`, () => {
    assert.ok(problemOf(cost)?.startsWith(expected), problemOf(cost))
  })

for (const labels of [{}, { a: 1 }, ['a'], { '': 'x' }])
  test(`rejects spotLabels ${JSON.stringify(labels)}`, () => {
    assert.match(problemOf({}, labels) ?? '', /^spotLabels must be a map of at least one node label/)
  })
