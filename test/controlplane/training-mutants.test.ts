/** Bugs are planted into the planner. Each has to be caught by the oracle that it violates. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toDelete } from '../../src/decision/plan.ts'
import { planTraining } from '../../src/plan/training/index.ts'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import type { FaultPlan } from '../crash/faults/fault.ts'
import type { Plans } from '../crash/campaign/plans.ts'
import { trainingHarness } from '../crash/harness/training-harness.ts'
import { trainingScenarios } from '../crash/scenarios/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()

interface Mutant {
  readonly name: string
  readonly scenario: string
  readonly planner: typeof planTraining
  readonly plans: Plans
  readonly found: RegExp
}

const noFault: Plans = () => []

/** A crash at the first or the second deletion of a pod. */
const crashesAtDeletions: Plans = () =>
  [1, 2].map((write): FaultPlan => ({ faults: [{ write, of: 'delete pods/', mode: 'answered' }] }))

const mutants: readonly Mutant[] = [
  {
    name: 'a failure is counted twice',
    scenario: 'fail, restart, complete',
    planner: (observed) => {
      const plan = planTraining(observed)
      const { failures = 0 } = plan.status ?? {}
      const isCounted = failures > (observed.job.status?.failures ?? 0)
      return isCounted ? { ...plan, status: { ...plan.status, failures: failures + 1 } } : plan
    },
    plans: noFault,
    found: /T4/,
  },
  {
    name: 'the gang is deleted before its failure is recorded',
    scenario: 'fail, restart, complete',
    planner: (observed) => {
      const plan = planTraining(observed)
      const isRestart = (plan.status?.attempts ?? 0) > (observed.job.status?.attempts ?? 1)
      return isRestart ? { ...plan, deletions: toDelete('graceful', observed.pods) } : plan
    },
    plans: crashesAtDeletions,
    found: /T4: failures: 0 instead of 1/,
  },
  {
    name: 'the status changes with every reconcile',
    scenario: 'create, complete',
    planner: (observed) => {
      const plan = planTraining(observed)
      return { ...plan, status: { ...plan.status, currentEpoch: Math.floor(Date.now() / 200) % 1_000_000 } }
    },
    plans: noFault,
    found: /G6/,
  },
  {
    name: 'only new workers get the new WORLD_SIZE',
    scenario: 'scale up, scale down',
    planner: (observed) => {
      const { job } = observed
      if (!job.status) return planTraining(observed)
      return planTraining({ ...observed, job: { ...job, status: { ...job.status, worldSize: job.spec.numWorkers } } })
    },
    plans: noFault,
    found: /T3/,
  },
]

describe('catches a planted bug', { concurrency: true }, () => {
  for (const { name, scenario: wanted, planner, plans, found } of mutants) {
    test(name, async (t) => {
      const harness = await trainingHarness(kubeconfig, { parallel: 4, patienceMs: 6_000 }, { planner })
      t.after(() => harness.close())
      const scenario = trainingScenarios.find((one) => one.name === wanted)
      assert.ok(scenario)
      const { violations } = await campaign(harness, scenario, plans)
      assert.ok(
        violations.some((violation) => found.test(violation)),
        `not caught: ${violations.join('\n')}`,
      )
    })
  }
})
