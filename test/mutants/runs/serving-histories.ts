/** An oracle run: random histories of a model, enough to detect a planted bug. */
import { test } from 'node:test'
import { planServing } from '../../../src/plan/serving/index.ts'
import { play } from '../../sim/serving-history.ts'

const HISTORIES = 600

test('random histories of a model', () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) play(seed, planServing)
})
