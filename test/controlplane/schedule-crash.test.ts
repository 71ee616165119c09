import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { sampleOfKinds, workloads } from '../crash/campaign/catalogue.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { scheduleHarness } from '../crash/harness/schedule-harness.ts'
import { scheduleScenarios } from '../crash/scenarios/schedule-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await scheduleHarness(kubeconfig, { parallel: 8, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

/** One plan in this many; `scripts/faults.ts` runs all. */
const SLICE = 7

for (const scenario of scheduleScenarios) {
  test(`recovers when it is killed at a write: ${scenario.name}`, async (t) => {
    const { plans, writes, violations } = await campaign(harness, scenario, slice(crashes, { every: SLICE, from: 3 }))
    t.diagnostic(`${plans} plans, ${writes} writes, ${violations.length} violations`)
    assert.deepEqual(violations, [])
  })

  test(`survives a plan of every other kind: ${scenario.name}`, async (t) => {
    const workload = workloads.find(({ name }) => name === 'schedule')
    assert.ok(workload)
    const report = await campaign(harness, scenario, sampleOfKinds(workload, scenario, ['crashes']))
    t.diagnostic(`${report.plans} plans, ${report.crashes} crashes, ${report.violations.length} violations`)
    assert.deepEqual(report.violations, [])
  })
}
