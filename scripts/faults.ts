/**
 * The fault campaign: every scenario of every workload under every kind of fault plan, judged by oracles. See
 * docs/reliability.md. Starts a control plane of its own unless TEST_KUBECONFIG is set. An interrupted campaign continues
 * where it stopped. Exit code 1 if an oracle was violated.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { planKinds, workloads } from '../test/crash/campaign/catalogue.ts'
import { codeDigest, Journal } from '../test/crash/campaign/journal.ts'
import { parts, runParts } from '../test/crash/campaign/parts.ts'
import { reportOf } from '../test/crash/campaign/report.ts'
import { type Progress, Runner } from '../test/crash/campaign/runner.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed, startProgress } from '../testenv/progress.ts'

const ROOT = join(import.meta.dirname, '..')
const DEFAULT_STATE = join(ROOT, 'node_modules', '.cache', 'faults.jsonl')

const HELP = `Usage: scripts/faults.ts [OPTION …] [SCENARIO …]

Runs the scenarios whose names contain one of the given words. Default: all scenarios.

  --only KIND[,KIND …]  run only these kinds of plans and other campaigns
  --seed N              seed of all random choices (1)
  --pairs N             random pairs of crashes for each scenario (6)
  --parallel N          plans in parallel (12)
  --patience SECONDS    how long to wait for a state of a scenario (180); raise it on a busy machine
  --every N             run one in N of the campaign's plans (1)
  --all                 run every plan, not only the campaign's selection
  --state FILE          the journal (node_modules/.cache/faults.jsonl)
  --fresh               start again, whatever the journal says
  --report FILE         write the report, in Markdown, to FILE (standard output)

Kinds of plans, and other campaigns:
`

const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '6' },
    parallel: { type: 'string', default: '12' },
    patience: { type: 'string', default: '180' },
    every: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    state: { type: 'string', default: DEFAULT_STATE },
    fresh: { type: 'boolean', default: false },
    report: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const existing = process.env['TEST_KUBECONFIG']
const seed = Number(values.seed)
const every = planKinds({ pairs: Number(values.pairs), seed })
const wanted = values.only?.split(',')
const kinds = every
  .filter(({ name }) => wanted?.includes(name) ?? true)
  .map((kind) => (values.all ? { ...kind, every: 1 } : kind))
const wantedParts = parts.filter(({ name }) => wanted?.includes(name) ?? positionals.length === 0)
const chosen = workloads
  .map((workload) => ({
    ...workload,
    scenarios: workload.scenarios.filter(
      ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
    ),
  }))
  .filter(({ scenarios }) => scenarios.length > 0)

function openJournal(digest: string): Journal {
  const { only, pairs, every: thinning, all, state } = values
  if (values.fresh) writeFileSync(state, '')
  return Journal.open(state, JSON.stringify({ digest, seed, only, pairs, thinning, all, scenarios: positionals }))
}

async function runPlans(kubeconfig: string, journal: Journal, isDisposable: boolean): Promise<void> {
  const began = Date.now()
  const before = journal.plans.length
  const line = startProgress('faults')
  const onProgress = ({ done, total, violations, violating }: Progress): void => {
    const left = ((Date.now() - began) / (done - before)) * (total - done)
    line.update(`${done}/${total} plans, ${violations} violations, about ${elapsed(left)} left`)
    for (const violation of violating?.violations ?? [])
      console.log(`${violating?.kind}: ${violating?.scenario}: ${violation}`)
  }
  const [parallel, thinning] = [Number(values.parallel), Number(values.every)]
  const patienceMs = Number(values.patience) * 1000
  const options = {
    kubeconfig,
    workloads: chosen,
    kinds,
    journal,
    parallel,
    patienceMs,
    thinning,
    isDisposable,
    onProgress,
  }
  try {
    await new Runner(options).run()
  } finally {
    journal.record({ type: 'time', ms: Date.now() - began })
    line.done(`${journal.plans.length} plans`)
  }
}

async function runOthers(kubeconfig: string, journal: Journal): Promise<void> {
  const line = startProgress('other campaigns')
  const stateFile = (part: string): string => `${values.state}.${part}`
  // For campaigns that start processes of their own.
  process.env['TEST_KUBECONFIG'] = kubeconfig
  await runParts(wantedParts, journal, { kubeconfig, seed, stateFile, onProgress: (text) => line.update(text) })
  line.done()
}

/** Runs on the given cluster, or on one that is removed afterwards: leftovers of plans would slow down the next campaign. */
async function onCluster(run: (kubeconfig: string, isDisposable: boolean) => Promise<void>): Promise<void> {
  if (existing !== undefined) return run(existing, false)
  const plane = await startControlPlane()
  try {
    await run(plane.kubeconfig, true)
  } finally {
    await plane.stop()
  }
}

function reportOn(journal: Journal, digest: string): string {
  const command = ['scripts/faults.ts', ...process.argv.slice(2)].join(' ')
  return reportOf(journal, { seed, digest, kinds, command })
}

/** Called before the other campaigns too, which take long. */
function writeReport(journal: Journal, digest: string): void {
  if (values.report !== undefined) writeFileSync(values.report, reportOn(journal, digest))
}

async function main(): Promise<number> {
  const digest = codeDigest(ROOT)
  const journal = openJournal(digest)
  if (kinds.length > 0) await onCluster((kubeconfig, isDisposable) => runPlans(kubeconfig, journal, isDisposable))
  writeReport(journal, digest)
  if (wantedParts.length > 0) await onCluster((kubeconfig) => runOthers(kubeconfig, journal))
  writeReport(journal, digest)
  if (values.report === undefined) console.log(reportOn(journal, digest))
  return [...journal.plans, ...journal.parts].filter(({ violations }) => violations.length > 0).length
}

if (values.help) {
  console.log(HELP + [...every, ...parts].map(({ name, what }) => `  ${name.padEnd(20)}  ${what}`).join('\n'))
} else {
  const violating = await main()
  process.exit(violating > 0 ? 1 : 0)
}
