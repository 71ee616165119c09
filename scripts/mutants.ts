/**
 * Plants bugs, one at a time, and checks that an oracle catches each. See test/mutants.
 *
 * Usage: scripts/mutants.ts [--only ID]... [--sample N] [--seed S] [--state FILE]
 *
 * Results are kept in the state file until a source or a test changes, so an interrupted run continues where it stopped.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { explained, mutationCampaign, summary } from '../test/mutants/campaign.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    state: { type: 'string', default: join(tmpdir(), 'ml-operator-mutants.json') },
  },
})

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
process.exitCode = report.survivors.length > 0 || report.broken.length > 0 ? 1 : 0
