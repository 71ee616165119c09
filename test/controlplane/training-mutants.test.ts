/** The harness put to the test: bugs are planted into the planner, and each has to be found, by the oracle it offends. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planTraining } from '../../src/plan/training/plan.ts'
import { sharedCluster } from '../cluster.ts'
import { campaign } from '../crash/campaign.ts'
import type { FaultPlan } from '../crash/fault.ts'
import type { Plans } from '../crash/plans.ts'
import { trainingLab } from '../crash/training-lab.ts'
import { trainingScenarios } from '../crash/training-scenarios.ts'

const { kubeconfig } = await sharedCluster()

interface Mutant {
  readonly name: string
  readonly scenario: string
  readonly planner: typeof planTraining
  readonly plans: Plans
  readonly found: RegExp
}

const noFault: Plans = () => []

/** A death at the deletion of a pod: the first, or the second. */
const deathsAtDeletions: Plans = () =>
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
    name: 'the gang is removed before its failure is on record',
    scenario: 'fail, restart, complete',
    planner: (observed) => {
      const plan = planTraining(observed)
      const isRestart = (plan.status?.attempts ?? 0) > (observed.job.status?.attempts ?? 1)
      return isRestart ? { ...plan, prune: observed.pods } : plan
    },
    plans: deathsAtDeletions,
    found: /T4: failures: 0 instead of 1/,
  },
  {
    name: 'the status changes with every look',
    scenario: 'create, complete',
    planner: (observed) => {
      const plan = planTraining(observed)
      return { ...plan, status: { ...plan.status, currentEpoch: Math.floor(Date.now() / 200) % 1_000_000 } }
    },
    plans: noFault,
    found: /G6/,
  },
  {
    name: 'only newcomers are told another size',
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

describe('a planted bug is found', { concurrency: true }, () => {
  for (const { name, scenario: wanted, planner, plans, found } of mutants) {
    test(name, async (t) => {
      const lab = await trainingLab(kubeconfig, { parallel: 4, patienceMs: 6_000 }, planner)
      t.after(() => lab.close())
      const scenario = trainingScenarios.find((one) => one.name === wanted)
      assert.ok(scenario)
      const { violations } = await campaign(lab, scenario, plans)
      assert.ok(
        violations.some((violation) => found.test(violation)),
        `not found: ${violations.join('\n')}`,
      )
    })
  }
})
