/**
 * Campaigns with generated objects on a real API server. Starts a control plane of its own unless TEST_KUBECONFIG is set.
 */
import { parseArgs } from 'node:util'
import { handEditCampaign, poisonCampaign, transitionCampaign } from '../test/objects/campaign.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed } from '../testenv/progress.ts'

const USAGE = `Usage: scripts/objects.ts CAMPAIGN [flags]

Campaigns
  poison        create objects at the limits of our schemas beside healthy ones
  transitions   change, remove and revert every field of live objects
  edits         change, add and remove every field of every child by hand

Flags
  --seed N      seed of the objects and their order
  --objects N   how many poison objects (50000)
  --sample N    run only N edits or transitions, chosen by the seed
  --state FILE  where finished transitions or batches are recorded, to continue later
  --lanes N     namespaces in parallel (4)
  --rejected    print why objects were rejected at admission
  --help        this text`

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    objects: { type: 'string', default: '50000' },
    sample: { type: 'string' },
    state: { type: 'string' },
    lanes: { type: 'string', default: '4' },
    rejected: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

interface Report {
  readonly violations: readonly string[]
}

const seed = Number(values.seed)
const sample = values.sample === undefined ? {} : { sample: Number(values.sample) }
const stateFile = values.state === undefined ? {} : { stateFile: values.state }
const lanes = Number(values.lanes)

const onProgress = (line: string): void => {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line.slice(0, process.stdout.columns - 1)}`)
  else console.log(line)
}

/** For tuning the generator. */
const onRejected = (message: string): void => {
  if (values.rejected) console.log(`rejected: ${message}`)
}

const campaigns: Readonly<Record<string, (kubeconfig: string) => Promise<Report>>> = {
  poison: (kubeconfig) =>
    poisonCampaign({ kubeconfig, seed, objects: Number(values.objects), onProgress, onRejected, ...stateFile }),
  transitions: (kubeconfig) => transitionCampaign({ kubeconfig, seed, lanes, onProgress, ...sample, ...stateFile }),
  edits: (kubeconfig) => handEditCampaign({ kubeconfig, seed, lanes, onProgress, ...sample }),
}

async function run(kubeconfig: string, campaign: (kubeconfig: string) => Promise<Report>): Promise<void> {
  const began = Date.now()
  const { violations, ...counts } = await campaign(kubeconfig)
  if (process.stdout.isTTY) process.stdout.write('\n')
  for (const violation of violations) console.log(`  ${violation}`)
  const time = elapsed(Date.now() - began)
  console.log(`${JSON.stringify(counts)}, ${violations.length} violations, seed ${seed}, ${time}`)
  process.exitCode = violations.length > 0 ? 1 : 0
}

async function main(): Promise<void> {
  const campaign = campaigns[positionals[0] ?? '']
  if (values.help || !campaign) {
    console.log(USAGE)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const existing = process.env['TEST_KUBECONFIG']
  if (existing !== undefined) return run(existing, campaign)
  const plane = await startControlPlane()
  try {
    await run(plane.kubeconfig, campaign)
  } finally {
    await plane.stop()
  }
}

await main()
