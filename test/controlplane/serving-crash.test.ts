import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sharedCluster } from '../cluster.ts'
import { campaign } from '../crash/campaign.ts'
import { deaths, slice } from '../crash/plans.ts'
import { servingLab } from '../crash/serving-lab.ts'
import { wholeLife } from '../crash/serving-scenarios.ts'

const { kubeconfig } = await sharedCluster()
const lab = await servingLab(kubeconfig, { parallel: 8 })
after(() => lab.close())

/** One plan in this many, of one life; `scripts/faults.ts` runs all of all lives. With 17 every death would be of the same sort. */
const SLICE = 16

test('the operator is killed at a write in the life of a model and started again', async (t) => {
  const report = await campaign(lab, wholeLife, slice(deaths, { every: SLICE, from: 4 }))
  const { plans, deaths: died, writes, violations } = report
  t.diagnostic(`${plans} plans, ${died} deaths, ${writes} writes, ${violations.length} violations`)
  assert.deepEqual(violations, [])
})
