/** Runs a scenario without faults, for reference, and then under each fault plan. Plans run in parallel and independently. */
import type { Plans } from './plans.ts'
import { ScenarioReference } from './scenario-reference.ts'
import { type Harness, runPlan } from '../harness/plan-run.ts'
import type { Scenario } from '../scenarios/scenario.ts'

export interface Report {
  readonly scenario: string
  readonly plans: number
  /** Plans in which every fault was injected. A run with fewer writes than the reference can miss the last ones. */
  readonly reached: number
  readonly crashes: number
  readonly writes: number
  readonly violations: readonly string[]
}

export async function campaign(harness: Harness, scenario: Scenario, plans: Plans): Promise<Report> {
  const reference = await ScenarioReference.measured(harness, scenario)
  const outcomes = await Promise.all(
    reference.plans(plans).map(async (plan) => {
      const outcome = await harness.slots.run(() => runPlan(harness, scenario, plan))
      return { ...outcome, found: reference.violationsOf(plan, outcome) }
    }),
  )
  const underFaults = outcomes.flatMap(({ found }) => found)
  return {
    scenario: scenario.name,
    plans: outcomes.length + 2,
    reached: outcomes.filter(({ unreached }) => unreached === 0).length,
    crashes: outcomes.reduce((sum, { crashes }) => sum + crashes, 0),
    writes: reference.writes.length,
    violations: [...reference.violations, ...underFaults].map((line) => `${scenario.name}: ${line}`),
  }
}
