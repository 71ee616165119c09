import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { recordingHarness } from '../crash/harness/training-harness.ts'
import { recordScenarios } from '../crash/scenarios/record-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await recordingHarness(kubeconfig, { parallel: 8, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

/** One plan in this many; `scripts/faults.ts` runs all. */
const SLICE = 16

describe('keeps one complete history when it is killed at a write', { concurrency: true }, () => {
  for (const scenario of recordScenarios) {
    test(scenario.name, async (t) => {
      const report = await campaign(harness, scenario, slice(crashes, { every: SLICE, from: 2 }))
      const { plans, crashes: crashCount, writes, violations } = report
      t.diagnostic(`${plans} plans, ${crashCount} crashes, ${writes} writes, ${violations.length} violations`)
      assert.deepEqual(violations, [])
    })
  }
})
