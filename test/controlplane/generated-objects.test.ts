/** A sample of the campaigns with generated objects; `make test-faults` runs the whole of each. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { handEditCampaign, poisonCampaign, transitionCampaign } from '../objects/campaign.ts'
import { startControlPlane } from '../../testenv/control-plane.ts'

const SEED = 1

// The operator under test sees every namespace, and the kinds of Istio and the Gateway API are installed.
const plane = await startControlPlane()
after(() => plane.stop())
const { kubeconfig } = plane

test('1,000 objects at the edges of our schemas stop neither the operator nor their neighbours', async (t) => {
  const { violations, ...counts } = await poisonCampaign({ kubeconfig, seed: SEED, objects: 1000 })
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(violations, [])
  assert.equal(counts.exits, 0)
})

test('a change of a spec that is reverted leaves nothing behind', async (t) => {
  const { violations, ...counts } = await transitionCampaign({ kubeconfig, seed: SEED, sample: 24 })
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(violations, [])
  assert.equal(counts.transitions, 24)
})

test('an edit of a child by hand is repaired, rejected or tolerated for a declared reason', async (t) => {
  const { violations, ...counts } = await handEditCampaign({ kubeconfig, seed: SEED, sample: 24 })
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(violations, [])
  assert.equal(counts.edits, 2 * 24, 'of objects without and with routes')
})
