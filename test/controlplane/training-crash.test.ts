import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedCluster } from '../cluster.ts'
import { campaign } from '../crash/campaign.ts'
import { trainingLab } from '../crash/training-lab.ts'
import { trainingScenarios } from '../crash/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const lab = await trainingLab(kubeconfig, 8)
after(() => lab.close())

/** One plan in this many; `scripts/faults.ts` runs all of them. Odd, so that every way to die has its turn. */
const SLICE = 17

describe('the operator is killed at a write and started again', { concurrency: true }, () => {
  for (const scenario of trainingScenarios) {
    test(scenario.name, async (t) => {
      const choose = (_: unknown, index: number): boolean => index % SLICE === 4
      const { plans, deaths, writes, violations } = await campaign(lab, scenario, { choose })
      t.diagnostic(`${plans} plans, ${deaths} deaths, ${writes} writes, ${violations.length} violations`)
      assert.deepEqual(violations, [])
    })
  }
})
