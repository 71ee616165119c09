/** Claims that stay Pending. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { PersistentVolumeClaim } from '../../../kube/resources.ts'
import { planTraining } from '../lifecycle.ts'
import { timestamp } from '../../time.ts'
import type { TrainingObserved } from './observed.ts'
import { stuckClaims } from './pending-claims.ts'

const SELECTED = { 'volume.kubernetes.io/selected-node': 'node-1' }
const FAILED = 'ProvisioningFailed: only ReadWriteOnce is supported'

interface Situation {
  readonly seconds: number
  readonly phase?: string
  readonly annotations?: Record<string, string>
  readonly event?: string
}

/** A job whose pod has been waiting for a node since it was created. */
function waiting({ seconds, phase = 'Pending', annotations = {}, event }: Situation): TrainingObserved {
  const cluster = new TrainingCluster({ checkpoint: { storage: { storageClass: 'fast' } } })
  cluster.settle()
  const { observed } = cluster
  const created = timestamp(observed.now - seconds * 1000)
  const [claim] = observed.claims
  assert.ok(claim)
  const pending: PersistentVolumeClaim = {
    ...claim,
    metadata: { ...claim.metadata, annotations, creationTimestamp: created },
    status: { phase },
  }
  const pods = observed.pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, creationTimestamp: created } }))
  const claimEvents = event === undefined ? undefined : new Map([['bert-checkpoints', event]])
  return { ...observed, pods, claims: [pending], ...(claimEvents && { claimEvents }) }
}

describe('events of a claim are read', () => {
  for (const [name, situation, isRead] of [
    ['when it has been Pending for ten seconds', { seconds: 10 }, true],
    ['not before', { seconds: 9 }, false],
    ['not if it is bound', { seconds: 60, phase: 'Bound' }, false],
  ] as const)
    test(name, () => assert.equal(stuckClaims(waiting(situation)).length, isRead ? 1 : 0))

  test('not while every pod has a node', () => {
    const observed = waiting({ seconds: 60 })
    const pods = observed.pods.map((pod) => ({ ...pod, spec: { containers: [], nodeName: 'n' } }))
    assert.deepEqual(stuckClaims({ ...observed, pods }), [])
  })

  test('not before the pods have waited: a claim may be older than the job', () => {
    const observed = waiting({ seconds: 60 })
    const creationTimestamp = timestamp(observed.now - 1000)
    const pods = observed.pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, creationTimestamp } }))
    assert.deepEqual(stuckClaims({ ...observed, pods }), [])
  })
})

describe('a claim that stays Pending is in state and reason', () => {
  for (const [name, situation, expected] of [
    [
      'with the event of its provisioner, and the fix',
      { seconds: 10, event: FAILED },
      /^VolumeNotBound: PersistentVolumeClaim bert-checkpoints is not bound: ProvisioningFailed: only ReadWriteOnce is supported \(requested: ReadWriteOnce of StorageClass fast; .* edit checkpoint\.storage, then delete the claim/,
    ],
    [
      'without an event, once the scheduler has selected a node',
      { seconds: 10, annotations: SELECTED },
      /^VolumeNotBound: PersistentVolumeClaim bert-checkpoints is not bound: check that StorageClass fast exists/,
    ],
  ] as const)
    test(name, () => {
      const { status, events } = planTraining(waiting(situation))
      assert.equal(status?.state, 'Pending')
      assert.match(status?.reason ?? '', expected)
      assert.deepEqual(
        events.map(({ type, reason }) => [type, reason]),
        [['Warning', 'VolumeNotBound']],
      )
    })

  test('not if it waits for its pod to get a node', () => {
    assert.match(planTraining(waiting({ seconds: 60 })).status?.reason ?? '', /^WorkersStarting/)
  })
})

for (const [name, seconds, expected] of [
  ['as soon as it counts as stuck', 4, 6000],
  ['at an interval after that', 60, 20_000],
] as const)
  test(`a Pending claim is looked at again ${name}`, () =>
    assert.equal(planTraining(waiting({ seconds })).requeueAfterMs, expected))

test('a bound claim costs no further pass, once the pods have nodes', () => {
  const observed = waiting({ seconds: 4, phase: 'Bound' })
  const pods = observed.pods.map(({ spec, ...pod }) => ({
    ...pod,
    spec: { containers: [], ...spec, nodeName: 'node-1' },
  }))
  assert.equal(planTraining({ ...observed, pods }).requeueAfterMs, undefined)
})
