/** The operator is killed at writes of a rollout. `scripts/faults.ts` runs every plan. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { crashes, slice } from '../crash/campaign/plans.ts'
import { servingHarness } from '../crash/harness/serving-harness.ts'
import { servingScenarios } from '../crash/scenarios/serving-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const harness = await servingHarness(kubeconfig, { parallel: 8, stepPatienceMs: 180_000, patienceMs: 180_000 })
after(() => harness.close())

const SLICE = 40

for (const [name, from] of [
  ['model: promote a canary', 5],
  ['model: roll a canary back', 11],
  ['model: promote a canary by Jobs', 9],
  ['model: abort a canary', 17],
  ['model: switch blue-green', 7],
  ['model: abort a blue-green switch', 13],
  ['model: recreate', 3],
] as const)
  test(`recovers when it is killed at a write: ${name}`, async (t) => {
    const scenario = servingScenarios.find((one) => one.name === name)
    assert.ok(scenario)
    const report = await campaign(harness, scenario, slice(crashes, { every: SLICE, from }))
    const { plans, crashes: crashCount, writes, violations } = report
    t.diagnostic(`${plans} plans, ${crashCount} crashes, ${writes} writes, ${violations.length} violations`)
    assert.deepEqual(violations, [])
  })
