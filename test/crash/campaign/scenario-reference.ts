/** Fault-free runs of a scenario: its plans are derived from them and compared with them. */
import { Reference, type Trace } from '../oracles/differential.ts'
import { describePlan, type FaultPlan, isPause } from '../faults/fault.ts'
import type { Plans } from './plans.ts'
import { type Harness, type Outcome, runPlan } from '../harness/plan-run.ts'
import type { Scenario } from '../scenarios/scenario.ts'

/** The part of a fault-free run that is kept. */
export type ReferenceRun = Trace & Pick<Outcome, 'writes' | 'violations'>

export class ScenarioReference {
  readonly scenario: Scenario
  readonly runs: readonly [ReferenceRun, ReferenceRun]
  readonly #reference: Reference

  constructor(scenario: Scenario, runs: readonly [ReferenceRun, ReferenceRun]) {
    this.scenario = scenario
    this.runs = runs
    this.#reference = new Reference(runs)
  }

  static async measured(harness: Harness, scenario: Scenario): Promise<ScenarioReference> {
    const run = (): Promise<Outcome> => harness.slots.run(() => runPlan(harness, scenario, { faults: [] }))
    return new ScenarioReference(scenario, await Promise.all([run(), run()]))
  }

  /** Writes of the longer run. */
  get writes(): readonly string[] {
    const [first, second] = this.runs
    return first.writes.length > second.writes.length ? first.writes : second.writes
  }

  /** Violations in the fault-free runs. */
  get violations(): string[] {
    return this.runs.flatMap(({ violations }) => violations.map((line) => `no fault: ${line}`))
  }

  plans(plans: Plans): readonly FaultPlan[] {
    return plans(this.writes, { kinds: this.scenario.kinds.map(({ plural }) => plural) })
  }

  /** A run that violated an oracle was stopped early, so its end state is not compared. */
  violationsOf(plan: FaultPlan, outcome: Outcome): string[] {
    const at = plan.faults.map(({ write }) => outcome.writes[write - 1] ?? 'not reached').join(', ')
    const violations = outcome.violations.length > 0 ? outcome.violations : this.#differences(plan, outcome)
    return violations.map((line) => `${describePlan(plan)}${at && ` (${at})`}: ${line}`)
  }

  /** A deleted namespace leaves nothing to compare. While a provider's kinds are missing, another provider may take over. */
  #differences({ namespaceDeletedAt, flip, faults }: FaultPlan, outcome: Outcome): string[] {
    if (namespaceDeletedAt !== undefined) return []
    if (flip?.denied === 'discovery') return this.#reference.endDifferences(outcome)
    if (faults.some(({ mode }) => isPause(mode))) return this.#reference.differencesWithLateWrite(outcome)
    return this.#reference.differences(outcome)
  }
}
