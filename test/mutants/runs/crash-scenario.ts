/**
 * An oracle run: one scenario of the crash tests, judged by its oracles.
 *
 * Arguments: `training` or `serving`, the name of the scenario, and the faults: `none`, or one in N `crashes`, `errors` or
 * `stale` restarts, as `crashes/N`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedCluster } from '../../cluster/shared-cluster.ts'
import { campaign } from '../../crash/campaign/campaign.ts'
import { crashes, errors, type Plans, slice, staleRestarts } from '../../crash/campaign/plans.ts'
import type { Harness } from '../../crash/harness/plan-run.ts'
import type { Scenario } from '../../crash/scenarios/scenario.ts'
import { servingHarness } from '../../crash/harness/serving-harness.ts'
import { servingScenarios } from '../../crash/scenarios/serving-scenarios.ts'
import { trainingHarness } from '../../crash/harness/training-harness.ts'
import { trainingScenarios } from '../../crash/scenarios/training-scenarios.ts'

const [workload = '', wanted = '', faults = 'none'] = process.argv.slice(2)

const PATIENCE_MS = 15_000
const kinds: Readonly<Record<string, Plans>> = { crashes, errors, stale: staleRestarts, none: () => [] }

function plansOf(text: string): Plans {
  const [kind = '', every = '1'] = text.split('/')
  const plans = kinds[kind]
  assert.ok(plans, `unknown faults ${kind}`)
  return slice(plans, { every: Number(every) })
}

function scenarioOf(): Scenario {
  const all: readonly Scenario[] = workload === 'training' ? trainingScenarios : servingScenarios
  const scenario = all.find(({ name }) => name === wanted)
  assert.ok(scenario, `unknown scenario ${wanted}`)
  return scenario
}

async function openHarness(): Promise<Harness & { close(): Promise<void> }> {
  const { kubeconfig } = await sharedCluster()
  const options = { parallel: 4, patienceMs: PATIENCE_MS }
  return workload === 'training' ? trainingHarness(kubeconfig, options) : servingHarness(kubeconfig, options)
}

test(`${wanted}, ${faults}`, async (t) => {
  const scenario = scenarioOf()
  const harness = await openHarness()
  t.after(() => harness.close())
  const { violations, plans } = await campaign(harness, scenario, plansOf(faults))
  t.diagnostic(`${plans} plans, ${violations.length} violations`)
  for (const violation of violations) {
    await t.test(violation.split('\n')[0]?.replaceAll('#', '').slice(0, 200), () => assert.fail(violation))
  }
})
