import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { sampleOfKinds, workloads } from '../crash/campaign/catalogue.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { servingHarness } from '../crash/harness/serving-harness.ts'
import { servingScenarios, fullLifecycle } from '../crash/scenarios/serving-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await servingHarness(kubeconfig, { parallel: 8, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

/** One plan in this many, of one scenario; `scripts/faults.ts` runs all. With 17, every crash would have the same crash point. */
const SLICE = 16

test('recovers when it is killed at a write in the lifecycle of a model', async (t) => {
  const report = await campaign(harness, fullLifecycle, slice(crashes, { every: SLICE, from: 4 }))
  const { plans, crashes: crashCount, writes, violations } = report
  t.diagnostic(`${plans} plans, ${crashCount} crashes, ${writes} writes, ${violations.length} violations`)
  assert.deepEqual(violations, [])
})

test('survives a plan of every other kind', async (t) => {
  const scenario = servingScenarios.find(({ name }) => name === 'model: remove a version by router')
  const workload = workloads.find(({ name }) => name === 'serving')
  assert.ok(scenario && workload)
  const report = await campaign(harness, scenario, sampleOfKinds(workload, scenario, ['crashes', 'namespace']))
  t.diagnostic(`${report.plans} plans, ${report.crashes} crashes, ${report.violations.length} violations`)
  assert.deepEqual(report.violations, [])
})
