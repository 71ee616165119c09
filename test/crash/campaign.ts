/**
 * Every plan of a scenario: first without a fault, for reference, then with the faults that were asked for. Plans run side
 * by side; none knows of another.
 */
import { Reference } from './differential.ts'
import { describePlan, type FaultPlan } from './fault.ts'
import type { Plans } from './plans.ts'
import { type Lab, type Outcome, runPlan, type Scenario } from './run.ts'

export interface Report {
  readonly scenario: string
  readonly plans: number
  /** Plans in which all faults were reached; a run with fewer writes than the reference may miss the last ones. */
  readonly reached: number
  readonly deaths: number
  readonly writes: number
  readonly violations: readonly string[]
}

const NO_FAULT: FaultPlan = { faults: [] }

export async function campaign(lab: Lab, scenario: Scenario, plans: Plans): Promise<Report> {
  const run = (plan: FaultPlan): Promise<Outcome> => lab.places.within(() => runPlan(lab, scenario, plan))
  const [first, second] = await Promise.all([run(NO_FAULT), run(NO_FAULT)])
  const reference = new Reference([first, second])
  const longer = first.writes.length > second.writes.length ? first : second
  const chosen = plans(longer.writes)
  const outcomes = await Promise.all(chosen.map(run))
  const faultless = [first, second].flatMap(({ violations }) => violations.map((line) => `no fault: ${line}`))
  const faulty = outcomes.flatMap((outcome, index) => complaints(chosen[index] ?? NO_FAULT, outcome, reference))
  return {
    scenario: scenario.name,
    plans: chosen.length + 2,
    reached: outcomes.filter(({ unreached }) => unreached === 0).length,
    deaths: outcomes.reduce((sum, { deaths }) => sum + deaths, 0),
    writes: longer.writes.length,
    violations: [...faultless, ...faulty].map((line) => `${scenario.name}: ${line}`),
  }
}

/** A run that broke a rule was cut short: what it left behind says nothing then. */
function complaints(plan: FaultPlan, outcome: Outcome, reference: Reference): string[] {
  const at = plan.faults.map(({ write }) => outcome.writes[write - 1] ?? 'not reached').join(', ')
  const wrong = outcome.violations.length > 0 ? outcome.violations : reference.differences(outcome)
  return wrong.map((line) => `${describePlan(plan)} (${at}): ${line}`)
}
