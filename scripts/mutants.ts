/** Plants bugs, one at a time, and checks that an oracle catches each. See test/mutants. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { explained, mutationCampaign, summary } from '../test/mutants/campaign.ts'

const HELP = `Usage: scripts/mutants.ts [OPTION …]

Plants bugs, one at a time, and checks that an oracle catches each. Exit code 1 if one survives.

  --only ID     judge only this mutant; can be repeated
  --sample N    judge N mutants, chosen by the seed
  --seed N      seed of the sample and of random inputs (1)
  --state FILE  results, kept until a source or a test changes, so that an interrupted run continues
  --help        this text`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    state: { type: 'string', default: join(tmpdir(), 'ml-operator-mutants.json') },
  },
})

async function judge(): Promise<number> {
  const report = await mutationCampaign({
    only: values.only,
    ...(values.sample !== undefined && { sample: Number(values.sample) }),
    seed: Number(values.seed),
    stateFile: values.state,
    onProgress: (line) => console.log(line),
  })
  for (const { mutant, verdict } of report.survivors)
    console.log(`survived: ${mutant.id}: ${mutant.what} [${explained(verdict)}]`)
  for (const oracle of report.broken) console.log(`fails without a mutant: ${oracle}`)
  console.log(summary(report))
  return report.survivors.length > 0 || report.broken.length > 0 ? 1 : 0
}

if (values.help) console.log(HELP)
else process.exitCode = await judge()
