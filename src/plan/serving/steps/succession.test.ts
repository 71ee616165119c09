import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, NOW, observedOf } from '../../../../test/sim/model-view.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { planServing } from '../plan.ts'
import { waitForPredecessor } from './succession.ts'

const leftover: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'iris-service' } }
const LOOK_AGAIN = { writes: [], deletions: [], events: [], requeueAfterMs: 1000 }

function observed(age: number | undefined, leftovers: readonly KubeObject[]) {
  const seen = observedOf({ versions: { v1: { weight: 100 } } })
  const created = age === undefined ? {} : { creationTimestamp: at(-age) }
  const model = { ...seen.model, metadata: { ...seen.model.metadata, ...created } } as typeof seen.model
  return { ...seen, now: NOW, model, leftovers }
}

const table: readonly (readonly [string, number | undefined, readonly KubeObject[], boolean])[] = [
  ['a new model without leftovers starts', 0, [], false],
  ['a new model waits for leftovers to be deleted', 0, [leftover], true],
  ['it still waits after 59 seconds', 59, [leftover], true],
  ['it no longer waits after a minute', 60, [leftover], false],
  ['a model of unknown age does not wait', undefined, [leftover], false],
]

for (const [what, age, leftovers, isWaiting] of table)
  test(`succession: ${what}`, () => {
    assert.deepEqual(waitForPredecessor(observed(age, leftovers)), isWaiting ? LOOK_AGAIN : undefined)
  })

test('succession: a plan that waits writes nothing, not even a status', () => {
  assert.deepEqual(planServing(observed(0, [leftover])), LOOK_AGAIN)
})
