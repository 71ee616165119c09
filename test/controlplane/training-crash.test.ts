import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { sampleOfKinds, workloads } from '../crash/campaign/catalogue.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { trainingHarness } from '../crash/harness/training-harness.ts'
import { gangScenarios } from '../crash/scenarios/gang-scenarios.ts'
import { trainingScenarios } from '../crash/scenarios/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await trainingHarness(kubeconfig, { parallel: 8, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

/** One plan in this many; `scripts/faults.ts` runs all. With 17, every crash would have the same crash point: see `slice`. */
const SLICE = 16

describe('recovers when it is killed at a write', { concurrency: true }, () => {
  for (const scenario of [...trainingScenarios, ...gangScenarios]) {
    test(scenario.name, async (t) => {
      const report = await campaign(harness, scenario, slice(crashes, { every: SLICE, from: 4 }))
      const { plans, crashes: crashCount, writes, violations } = report
      t.diagnostic(`${plans} plans, ${crashCount} crashes, ${writes} writes, ${violations.length} violations`)
      assert.deepEqual(violations, [])
    })
  }
})

test('survives a plan of every other kind', async (t) => {
  const scenario = trainingScenarios.find(({ name }) => name === 'fail, restart, complete')
  const workload = workloads.find(({ name }) => name === 'training')
  assert.ok(scenario && workload)
  const report = await campaign(harness, scenario, sampleOfKinds(workload, scenario, ['crashes']))
  t.diagnostic(`${report.plans} plans, ${report.crashes} crashes, ${report.violations.length} violations`)
  assert.deepEqual(report.violations, [])
})
