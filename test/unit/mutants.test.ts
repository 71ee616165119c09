/** Bugs are planted into the source, one at a time. Each has to be caught by its oracle. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { mutants } from '../mutants/all.ts'
import { assertApplies, explained, mutationCampaign } from '../mutants/campaign.ts'
import { AREAS, areaOf, mutated } from '../mutants/mutant.ts'

/** A few of every area; `scripts/mutants.ts` judges all. */
const SAMPLE = 12

test('every mutant has a unique id and applies to the current source', () => {
  const ids = mutants.map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)])
  for (const mutant of mutants) {
    assertApplies(mutant)
    stripTypeScriptTypes(mutated(readFileSync(mutant.file, 'utf8'), mutant))
  }
})

test('every area of the source has mutants', () => {
  assert.deepEqual(new Set(mutants.map(areaOf)), new Set(AREAS))
})

test('rejects an edit that matches nowhere, or twice', () => {
  const edit = { file: 'x.ts', from: 'a', to: 'b' }
  assert.throws(() => mutated('none', edit), /0 times/)
  assert.throws(() => mutated('a a', edit), /2 times/)
  assert.equal(mutated('a $&', { ...edit, to: '$&' }), '$& $&')
})

test(`the oracles catch a sample of ${SAMPLE}`, async (t) => {
  const report = await mutationCampaign({ sample: SAMPLE, seed: 5, onProgress: (line) => t.diagnostic(line) })
  assert.equal(report.judged.length, SAMPLE)
  assert.deepEqual(report.broken, [])
  assert.deepEqual(
    report.survivors.map(({ mutant, verdict }) => `${mutant.id}: ${mutant.what} ${explained(verdict)}`),
    [],
  )
})
