/** The scenarios of every workload and the kinds of fault plans for them. */
import { failingPods, manyCrashes } from '../scenarios/failing-pods.ts'
import type { HarnessOptions } from '../harness/harness.ts'
import {
  allPairs,
  clocks,
  crashes,
  errors,
  fiveErrors,
  flips,
  namespaceDeletions,
  pairsOfCrashes,
  pauses,
  type Plans,
  sampled,
  shuffledLists,
  slice,
  staleKinds,
  staleRestarts,
} from './plans.ts'
import type { Harness } from '../harness/plan-run.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { scheduleHarness } from '../harness/schedule-harness.ts'
import { routedHarness, servingHarness } from '../harness/serving-harness.ts'
import { routedScenarios, servingScenarios } from '../scenarios/serving-scenarios.ts'
import { scheduleScenarios } from '../scenarios/schedule-scenarios.ts'
import { gangScenarios } from '../scenarios/gang-scenarios.ts'
import { recordScenarios } from '../scenarios/record-scenarios.ts'
import { recordingHarness, trainingHarness } from '../harness/training-harness.ts'
import { trainingScenarios } from '../scenarios/training-scenarios.ts'

export interface Workload {
  readonly name: string
  readonly open: (
    kubeconfig: string,
    options: Omit<HarnessOptions, 'start'>,
  ) => Promise<Harness & { close(): Promise<void> }>
  readonly scenarios: readonly Scenario[]
}

export const workloads: readonly Workload[] = [
  { name: 'training', open: trainingHarness, scenarios: [...trainingScenarios, ...gangScenarios] },
  { name: 'records', open: recordingHarness, scenarios: recordScenarios },
  { name: 'schedule', open: scheduleHarness, scenarios: scheduleScenarios },
  { name: 'serving', open: servingHarness, scenarios: servingScenarios },
  { name: 'routed', open: routedHarness, scenarios: routedScenarios },
  { name: 'accounting', open: trainingHarness, scenarios: [failingPods] },
]

export interface PlanKind {
  readonly name: string
  /** For `--help` and the report. */
  readonly what: string
  readonly plans: Plans
  /** The campaign runs one plan in this many; with `--all`, each plan. */
  readonly every: number
  /** Default: every scenario except `accounting`, which is long. */
  readonly applies?: (workload: Workload, scenario: Scenario) => boolean
}

export function appliesTo({ applies }: PlanKind, workload: Workload, scenario: Scenario): boolean {
  return applies ? applies(workload, scenario) : workload.name !== 'accounting'
}

/** Scenarios short enough for all pairs of their writes. */
const PAIRED = ['create, complete', 'delete while it runs', 'model: deploy one version']

export function planKinds({ pairs, seed }: { readonly pairs: number; readonly seed: number }): readonly PlanKind[] {
  return [
    { name: 'crashes', what: 'a crash at every write, in three ways', plans: crashes, every: 2 },
    { name: 'pairs', what: 'random pairs of crashes', plans: pairsOfCrashes(pairs, seed), every: 1 },
    {
      name: 'all-pairs',
      what: `every pair of crashes, on ${PAIRED.length} scenarios`,
      plans: allPairs,
      every: 1,
      applies: (_, { name }) => PAIRED.includes(name),
    },
    { name: 'stale', what: 'a crash, then a restart with stale reads', plans: staleRestarts, every: 3 },
    { name: 'pauses', what: 'two replicas, the leader paused at a write', plans: pauses, every: 4 },
    { name: 'errors', what: 'ten API errors at every write, once', plans: errors, every: 6 },
    { name: 'five-errors', what: 'ten API errors at every write, five in a row', plans: fiveErrors, every: 6 },
    { name: 'stale-kinds', what: 'one kind late by 1 to 50 events, or frozen', plans: staleKinds, every: 24 },
    { name: 'shuffled', what: 'lists in random order', plans: shuffledLists, every: 2 },
    { name: 'clocks', what: 'clock skew of an hour, and jumps', plans: clocks, every: 2 },
    {
      name: 'flips',
      what: 'kinds of traffic providers not served for a while',
      plans: flips,
      every: 4,
      applies: ({ name }) => name === 'routed',
    },
    { name: 'namespace', what: 'the namespace deleted at a write', plans: namespaceDeletions, every: 12 },
    {
      name: 'accounting',
      what: 'twenty crashes while a hundred pods fail and are counted',
      plans: manyCrashes(10, seed),
      every: 1,
      applies: ({ name }) => name === 'accounting',
    },
  ]
}

/** The plans of a kind that belong to the campaign. */
export function chosenPlans({ plans, every }: PlanKind, thinning: number): Plans {
  return slice(plans, { every: every * thinning })
}

/** One plan of every kind that applies to a scenario, except for the kinds left out. */
export function sampleOfKinds(workload: Workload, scenario: Scenario, without: readonly string[] = []): Plans {
  const kinds = planKinds({ pairs: 1, seed: 1 })
    .filter(({ name }) => !without.includes(name))
    .filter((kind) => appliesTo(kind, workload, scenario))
  return (writes, facts) => kinds.flatMap(({ plans }) => sampled(plans, 1)(writes, facts))
}
