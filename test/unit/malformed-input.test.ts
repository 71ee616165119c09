/** Malformed input for every port and parser: a sample of `scripts/fuzz.ts`, the same in each run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzCampaign } from '../fuzz/campaign.ts'

const INPUTS = 20_000
const SEED = 1707918155

test(`${INPUTS} malformed inputs cause no exit, no stall and no undeclared error`, async () => {
  const { inputs, exits, stalls, violations, findings } = await fuzzCampaign({ inputs: INPUTS, seed: SEED })
  assert.deepEqual({ exits, stalls, violations }, { exits: 0, stalls: 0, violations: 0 }, JSON.stringify(findings[0]))
  assert.ok(inputs >= INPUTS)
})
