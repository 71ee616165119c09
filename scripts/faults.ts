/**
 * Kills the operator at every write of every life of a TrainingJob, in every way a write can end, and prints how many
 * plans were run and what was violated. Starts a control plane of its own unless TEST_KUBECONFIG names one.
 *
 * Usage: scripts/faults.ts [--parallel N] [--every N] [SCENARIO …]
 * A scenario is chosen by any part of its name; `--every 5` runs one plan in five.
 */
import { parseArgs } from 'node:util'
import { campaign } from '../test/crash/campaign.ts'
import { trainingLab } from '../test/crash/training-lab.ts'
import { trainingScenarios } from '../test/crash/training-scenarios.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed } from '../testenv/progress.ts'

const { values, positionals } = parseArgs({
  options: { parallel: { type: 'string', default: '8' }, every: { type: 'string', default: '1' } },
  allowPositionals: true,
})

const choose = (_: unknown, index: number): boolean => index % Number(values.every) === 0

async function run(kubeconfig: string): Promise<number> {
  const began = Date.now()
  const lab = await trainingLab(kubeconfig, Number(values.parallel))
  const totals = { plans: 0, deaths: 0, violations: 0 }
  try {
    const wanted = trainingScenarios.filter(isWanted)
    const reports = await Promise.all(wanted.map((one) => campaign(lab, one, { choose })))
    for (const { scenario, plans, deaths, writes, violations } of reports) {
      totals.plans += plans
      totals.deaths += deaths
      totals.violations += violations.length
      console.log(`${scenario}: ${writes} writes, ${plans} plans, ${deaths} deaths, ${violations.length} violations`)
      for (const violation of violations) console.log(`  ${violation}`)
    }
  } finally {
    await lab.close()
  }
  const { plans, deaths, violations } = totals
  console.log(`${plans} plans, ${deaths} deaths, ${violations} violations, ${elapsed(Date.now() - began)}`)
  return violations
}

function isWanted({ name }: { readonly name: string }): boolean {
  return positionals.length === 0 || positionals.some((part) => name.includes(part))
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
