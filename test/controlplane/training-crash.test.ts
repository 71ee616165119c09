import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedCluster } from '../cluster.ts'
import { campaign } from '../crash/campaign.ts'
import { deaths, errors, pairsOfDeaths, type Plans, slice, staleRestarts } from '../crash/plans.ts'
import { trainingLab } from '../crash/training-lab.ts'
import { trainingScenarios } from '../crash/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const lab = await trainingLab(kubeconfig, { parallel: 8 })
after(() => lab.close())

/** One plan in this many; `scripts/faults.ts` runs all of them. With 17 every death would be of the same sort: see `slice`. */
const SLICE = 16

describe('the operator is killed at a write and started again', { concurrency: true }, () => {
  for (const scenario of trainingScenarios) {
    test(scenario.name, async (t) => {
      const report = await campaign(lab, scenario, slice(deaths, { every: SLICE, from: 4 }))
      const { plans, deaths: died, writes, violations } = report
      t.diagnostic(`${plans} plans, ${died} deaths, ${writes} writes, ${violations.length} violations`)
      assert.deepEqual(violations, [])
    })
  }
})

/** A few of each other kind, in the life that has the most to lose. */
const others: Plans = (writes) => [
  ...pairsOfDeaths(1, writes.length)(writes),
  ...slice(staleRestarts, { every: writes.length, from: 7 })(writes),
  ...slice(errors, { every: 11 })(writes),
]

test('two deaths, a restart with a look at the past, errors of the server', async (t) => {
  const scenario = trainingScenarios.find(({ name }) => name === 'fail, restart, complete')
  assert.ok(scenario)
  const { plans, deaths: died, violations } = await campaign(lab, scenario, others)
  t.diagnostic(`${plans} plans, ${died} deaths, ${violations.length} violations`)
  assert.deepEqual(violations, [])
})
