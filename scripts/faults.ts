/**
 * Faults on every life of a workload, judged by the oracles: the operator is killed at every write in every way a write can
 * end, at pairs of writes, and at every write with a look at the past afterwards; and every write fails once in every
 * way. Prints how many plans were run and what was violated. Starts a control plane of its own unless TEST_KUBECONFIG
 * names one.
 *
 * Usage: scripts/faults.ts [--parallel N] [--every N] [--pairs N] [--seed N] [--only KIND] [SCENARIO …]
 * A scenario is chosen by any part of its name; `--every 5` runs one plan in five; `--only` is deaths, pairs, stale or
 * errors; `--pairs` is how many of them to try for each scenario, the same ones for the same seed.
 */
import { parseArgs } from 'node:util'
import { campaign, type Report } from '../test/crash/campaign.ts'
import { deaths, errors, pairsOfDeaths, type Plans, slice, staleRestarts } from '../test/crash/plans.ts'
import type { Lab, Scenario } from '../test/crash/run.ts'
import { routedLab, servingLab } from '../test/crash/serving-lab.ts'
import { routedScenarios, servingScenarios } from '../test/crash/serving-scenarios.ts'
import { trainingLab } from '../test/crash/training-lab.ts'
import { trainingScenarios } from '../test/crash/training-scenarios.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed } from '../testenv/progress.ts'

const { values, positionals } = parseArgs({
  options: {
    parallel: { type: 'string', default: '8' },
    every: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
  },
  allowPositionals: true,
})

const kinds: Readonly<Record<string, Plans>> = {
  deaths,
  pairs: pairsOfDeaths(Number(values.pairs), Number(values.seed)),
  stale: staleRestarts,
  errors,
}

const wantedKinds = Object.entries(kinds).filter(([kind]) => values.only === undefined || values.only === kind)

/** Each workload, and how its program is started. */
const workloads: readonly {
  readonly open: (kubeconfig: string, options: { parallel: number }) => Promise<Lab & { close(): Promise<void> }>
  readonly scenarios: readonly Scenario[]
}[] = [
  { open: trainingLab, scenarios: trainingScenarios },
  { open: servingLab, scenarios: servingScenarios },
  { open: routedLab, scenarios: routedScenarios },
]

const totals = { plans: 0, deaths: 0, violations: 0 }

async function tryOut(lab: Lab, scenarios: readonly Scenario[], kind: string, plans: Plans): Promise<void> {
  const chosen = slice(plans, { every: Number(values.every) })
  await Promise.all(scenarios.map(async (scenario) => report(kind, await campaign(lab, scenario, chosen))))
}

function report(kind: string, { scenario, plans, reached, deaths: died, writes, violations }: Report): void {
  totals.plans += plans
  totals.deaths += died
  totals.violations += violations.length
  const counts = `${writes} writes, ${plans} plans (${reached} with all faults reached), ${died} deaths`
  console.log(`${kind}: ${scenario}: ${counts}, ${violations.length} violations`)
  for (const violation of violations) console.log(`  ${violation}`)
}

async function run(kubeconfig: string): Promise<number> {
  const began = Date.now()
  const isWanted = ({ name }: Scenario): boolean =>
    positionals.length === 0 || positionals.some((part) => name.includes(part))
  for (const { open, scenarios: all } of workloads) {
    const scenarios = all.filter(isWanted)
    if (scenarios.length === 0) continue
    const lab = await open(kubeconfig, { parallel: Number(values.parallel) })
    try {
      for (const [kind, plans] of wantedKinds) await tryOut(lab, scenarios, kind, plans)
    } finally {
      await lab.close()
    }
  }
  const { plans, deaths: died, violations } = totals
  const time = elapsed(Date.now() - began)
  console.log(`${plans} plans, ${died} deaths, ${violations} violations, seed ${values.seed}, ${time}`)
  return violations
}

async function onOwnPlane(): Promise<number> {
  const plane = await startControlPlane()
  try {
    return await run(plane.kubeconfig)
  } finally {
    await plane.stop()
  }
}

const existing = process.env['TEST_KUBECONFIG']
process.exitCode = (await (existing === undefined ? onOwnPlane() : run(existing))) > 0 ? 1 : 0
