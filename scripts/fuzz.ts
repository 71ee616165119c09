/** Sends malformed input to every port and parser, and prints `N inputs, N exits, N stalls`. */
import { parseArgs } from 'node:util'
import { fuzzCampaign } from '../test/fuzz/campaign.ts'

const HELP = `Usage: scripts/fuzz.ts [OPTION …]

Sends malformed input to every port and parser. Exit code 1 after an exit, a stall or an undeclared error.

  --inputs N     number of inputs (1000000)
  --seed N       seed of the inputs (random; printed at the start)
  --target NAME  only targets whose names contain NAME
  --help         this text`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    target: { type: 'string', default: '' },
  },
})

async function fuzz(): Promise<number> {
  const { inputs, seed, target } = values
  process.stdout.write(`seed ${seed}\n`)
  const began = performance.now()
  let printed = 0
  const result = await fuzzCampaign({
    inputs: Number(inputs),
    seed: Number(seed),
    target,
    onProgress: (done, total) => {
      if (performance.now() - printed < 5_000) return
      printed = performance.now()
      process.stdout.write(`${done} of ${total} inputs, ${Math.round((printed - began) / 1_000)} s\n`)
    },
  })
  for (const finding of result.findings.slice(0, 50)) process.stdout.write(`${JSON.stringify(finding)}\n`)
  for (const { target: name, ...counts } of result.targets) process.stdout.write(`${name}: ${JSON.stringify(counts)}\n`)
  process.stdout.write(`${result.violations} undeclared errors\n`)
  process.stdout.write(`${result.inputs} inputs, ${result.exits} exits, ${result.stalls} stalls\n`)
  return result.exits + result.stalls + result.violations > 0 ? 1 : 0
}

if (values.help) console.log(HELP)
else process.exitCode = await fuzz()
