/** Runs all plans of all scenarios and records each in the journal. Plans that are in the journal are not run again. */
import { appliesTo, chosenPlans, type PlanKind, type Workload } from './catalogue.ts'
import { describePlan, type FaultPlan } from '../faults/fault.ts'
import type { Journal, PlanRecord } from './journal.ts'
import { ScenarioReference } from './scenario-reference.ts'
import { type Harness, runPlan } from '../harness/plan-run.ts'
import type { Scenario } from '../scenarios/scenario.ts'

export interface RunnerOptions {
  readonly kubeconfig: string
  readonly workloads: readonly Workload[]
  readonly kinds: readonly PlanKind[]
  readonly journal: Journal
  readonly parallel: number
  /** How long to wait for a state of a scenario. Slowness is not a violation, so be generous on a busy machine. */
  readonly patienceMs: number
  /** Runs one in this many of the campaign's plans. */
  readonly thinning: number
  readonly isDisposable: boolean
  readonly onProgress: (progress: Progress) => void
}

export interface Progress {
  readonly done: number
  /** The plans known so far, and an estimate for scenarios that have not been run yet. */
  readonly total: number
  readonly violations: number
  /** The plan that has just ended, if it violated an oracle. */
  readonly violating?: PlanRecord
}

interface Task {
  readonly workload: Workload
  readonly reference: ScenarioReference
  readonly kind: PlanKind
  readonly plan: FaultPlan
  readonly text: string
}

const FAULT_FREE = 'reference'

export class Runner {
  readonly #options: RunnerOptions
  readonly #done = new Set<string>()
  #known = 0
  #knownScenarios = 0
  #violations: number

  constructor(options: RunnerOptions) {
    this.#options = options
    for (const record of options.journal.plans) this.#done.add(idOf(record.scenario, record.kind, record.plan))
    this.#violations = options.journal.plans.reduce((sum, { violations }) => sum + violations.length, 0)
  }

  async run(): Promise<void> {
    for (const workload of this.#options.workloads) await this.#runWorkload(workload)
  }

  async #runWorkload(workload: Workload): Promise<void> {
    const { kubeconfig, parallel, patienceMs, isDisposable } = this.#options
    const harness = await workload.open(kubeconfig, { parallel, isDisposable, patienceMs, stepPatienceMs: patienceMs })
    try {
      const references = await Promise.all(
        workload.scenarios.map((scenario) => this.#reference(harness, workload, scenario)),
      )
      const tasks = references.flatMap((reference) => this.#tasks(workload, reference))
      this.#known += tasks.length
      this.#knownScenarios += references.length
      const left = tasks.filter(
        ({ reference, kind, text }) => !this.#done.has(idOf(nameOf(reference), kind.name, text)),
      )
      await Promise.all(left.map((task) => harness.slots.run(() => this.#runTask(harness, task))))
    } finally {
      await harness.close()
    }
  }

  async #reference(harness: Harness, workload: Workload, scenario: Scenario): Promise<ScenarioReference> {
    const { journal } = this.#options
    const known = journal.reference(scenario.name)
    if (known) return new ScenarioReference(scenario, known)
    const reference = await retried(() => ScenarioReference.measured(harness, scenario))
    journal.recordReference(scenario.name, reference.runs)
    for (const { violations } of reference.runs)
      this.#record({
        type: 'plan',
        workload: workload.name,
        scenario: scenario.name,
        kind: FAULT_FREE,
        plan: describePlan({ faults: [] }),
        reached: true,
        crashes: 0,
        violations,
        times: {},
      })
    return reference
  }

  /** Plans with the same text are run once. */
  #tasks(workload: Workload, reference: ScenarioReference): Task[] {
    const { kinds, thinning } = this.#options
    return kinds
      .filter((kind) => appliesTo(kind, workload, reference.scenario))
      .flatMap((kind) => {
        const plans = reference.plans(chosenPlans(kind, thinning))
        const unique = new Map(plans.map((plan) => [describePlan(plan), plan]))
        return [...unique].map(([text, plan]) => ({ workload, reference, kind, plan, text }))
      })
  }

  async #runTask(harness: Harness, { workload, reference, kind, plan, text }: Task): Promise<void> {
    const identity = { workload: workload.name, scenario: nameOf(reference), kind: kind.name, plan: text }
    try {
      const outcome = await retried(() => runPlan(harness, reference.scenario, plan))
      const { crashes, times } = outcome
      const violations = reference.violationsOf(plan, outcome)
      this.#record({ type: 'plan', ...identity, reached: outcome.unreached === 0, crashes, violations, times })
    } catch (error) {
      const violations = [`${text}: not judged: ${error instanceof Error ? error.message : String(error)}`]
      this.#record({ type: 'plan', ...identity, reached: false, crashes: 0, violations, times: {} })
    }
  }

  #record(record: PlanRecord): void {
    const { journal, workloads, onProgress } = this.#options
    journal.record(record)
    this.#violations += record.violations.length
    const scenarioCount = workloads.reduce((sum, { scenarios }) => sum + scenarios.length, 0)
    const perScenario = this.#knownScenarios === 0 ? 0 : this.#known / this.#knownScenarios
    onProgress({
      done: journal.plans.length,
      total: Math.round(this.#known + perScenario * (scenarioCount - this.#knownScenarios) + 2 * scenarioCount),
      violations: this.#violations,
      ...(record.violations.length > 0 && { violating: record }),
    })
  }
}

const nameOf = ({ scenario }: ScenarioReference): string => scenario.name
const idOf = (scenario: string, kind: string, plan: string): string => `${scenario} | ${kind} | ${plan}`

/** Retries once: an error of the harness itself, such as a call that timed out, says nothing about the operator. */
async function retried<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch {
    return run()
  }
}
