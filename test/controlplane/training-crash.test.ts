import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedCluster } from '../cluster.ts'
import { campaign } from '../crash/campaign.ts'
import { deaths, slice } from '../crash/plans.ts'
import { trainingLab } from '../crash/training-lab.ts'
import { trainingScenarios } from '../crash/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const lab = await trainingLab(kubeconfig, { parallel: 8 })
after(() => lab.close())

/** One plan in this many; `scripts/faults.ts` runs all of them. Odd, so that every way to die has its turn. */
const SLICE = 17

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
