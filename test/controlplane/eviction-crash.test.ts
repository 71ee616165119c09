/** The operator is killed at writes while it replaces a sick pod. `scripts/faults.ts` runs every plan. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { servingHarness } from '../crash/harness/serving-harness.ts'
import { servingScenarios } from '../crash/scenarios/serving-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await servingHarness(kubeconfig, { parallel: 4, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

/** One plan in this many. */
const SLICE = 5

test('an eviction is neither lost nor repeated when the operator is killed', async (t) => {
  const scenario = servingScenarios.find(({ name }) => name === 'model: replace a sick pod')
  assert.ok(scenario)
  const report = await campaign(harness, scenario, slice(crashes, { every: SLICE, from: 3 }))
  const { plans, crashes: count, writes, violations } = report
  t.diagnostic(`${plans} plans, ${count} crashes, ${writes} writes, ${violations.length} violations`)
  assert.deepEqual(violations, [])
})
