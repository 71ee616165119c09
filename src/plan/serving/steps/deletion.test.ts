/** What the status says of a model that is being deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { getCondition } from '../../../api/conditions.ts'
import { planServing } from '../plan.ts'
import { planServingDeletion } from './deletion.ts'

function deleted(finalizers: string[]) {
  const cluster = new ServingCluster(planServing, () => undefined)
  assert.ok(calm(cluster, 40))
  const { model } = cluster
  return { ...model, metadata: { ...model.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers } }
}

for (const [finalizers, waiting] of [
  [['foregroundDeletion'], 'the deletion of its child objects'],
  [['a.example.com/b'], 'the owners of the finalizers a.example.com/b'],
  [['a/b', 'foregroundDeletion'], 'the deletion of its child objects, and for the owners of the finalizers a/b'],
] as const)
  test(`waits for ${waiting}`, () => {
    const model = deleted([...finalizers])
    const { status, writes, deletions } = planServingDeletion(model)
    assert.deepEqual([writes, deletions], [[], []])
    assert.equal(status?.message, `Deleting: waiting for ${waiting}`)
    const ready = getCondition(status?.conditions as never, 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Deleting'])
    assert.deepEqual([status?.phase, status?.ready], [model.status?.phase, model.status?.ready])
  })

test('says nothing where nothing is waited for', () => {
  assert.equal(planServingDeletion(deleted([])).status, undefined)
})

test('says it once', () => {
  const model = deleted(['a/b', 'c/d'])
  const { status } = planServingDeletion(model)
  const left = { ...model, metadata: { ...model.metadata, finalizers: ['c/d'] }, status: status as never }
  assert.equal(planServingDeletion(left).status, undefined)
})
