/** The judges judged: each oracle of the crash test is shown the crime it is there for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import { ATTEMPT_LABEL, INDEX_LABEL, JOB_UID_LABEL, ROLE_LABEL } from '../../src/plan/training/names.ts'
import { Reference, type Trace } from '../crash/differential.ts'
import { generalOracles } from '../crash/general-oracles.ts'
import { trainingOracles } from '../crash/training-oracles.ts'
import type { Sighting, World } from '../crash/witness.ts'

let versions = 100

interface PodLook {
  readonly uid: string
  readonly owner?: string
  readonly attempt?: number
  readonly rank?: number
  readonly world?: string
  readonly ownerReferences?: NonNullable<KubeObject['metadata']['ownerReferences']>
}

const controller = [{ apiVersion: 'ml.example.com/v1', kind: 'TrainingJob', name: 'j', uid: 'j1', controller: true }]

function pod({
  uid,
  owner = 'j1',
  attempt = 1,
  rank = 0,
  world = '2',
  ownerReferences = controller,
}: PodLook): KubeObject {
  const labels = {
    app: 'trainingjob',
    trainingjob: 'j',
    [JOB_UID_LABEL]: owner,
    [ATTEMPT_LABEL]: String(attempt),
    [ROLE_LABEL]: 'worker',
    [INDEX_LABEL]: String(rank),
  }
  const metadata = { name: `j-workers-${rank}`, uid, resourceVersion: String(versions++), labels, ownerReferences }
  const spec = { containers: [{ name: 'c', env: [{ name: 'WORLD_SIZE', value: world }] }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubeObject
}

function job(status: object, more: object = {}): KubeObject {
  const metadata = { name: 'j', uid: 'j1', generation: 2, resourceVersion: String(versions++), ...more }
  return {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata,
    spec: { backoffLimit: 1 },
    status,
  } as KubeObject
}

/** Shows the oracles a history, and gives the names of those who object. */
function verdicts(...history: readonly Sighting[]): string[] {
  const objects = new Map<string, KubeObject>()
  const world: World = {
    all: () => [...objects.values()],
    list: ({ kind }) => [...objects.values()].filter((object) => object.kind === kind) as never,
  }
  const oracles = trainingOracles()
  return history.flatMap((sighting) => {
    const { type, object } = sighting
    if (type === 'deleted') objects.delete(object.metadata.uid ?? '')
    else objects.set(object.metadata.uid ?? '', object)
    return oracles.flatMap(({ name, see }) => (see?.(sighting, world) === undefined ? [] : [name]))
  })
}

const created = (object: KubeObject): Sighting => ({ type: 'created', object })
const deleted = (object: KubeObject): Sighting => ({ type: 'deleted', object })
const became = (previous: KubeObject, object: KubeObject): Sighting => ({ type: 'changed', object, previous })

test('an innocent history is acquitted', () => {
  const [first, second] = [pod({ uid: 'a' }), pod({ uid: 'b', rank: 1 })]
  const again = pod({ uid: 'c', attempt: 2 })
  const running = job({ state: 'Running', attempts: 1, observedGeneration: 1 })
  const restarted = job({ state: 'Running', attempts: 2, failures: 1, observedGeneration: 2 })
  const done = job({ state: 'Completed', attempts: 2, failures: 1, observedGeneration: 2 })
  const lives = [created(first), created(second), deleted(first), deleted(second), created(again)]
  assert.deepEqual(verdicts(created(running), ...lives, became(running, restarted), became(restarted, done)), [])
})

test('T1 and T2: a second pod of a rank, an attempt beside another, a namesake of a deleted job', () => {
  assert.deepEqual(verdicts(created(pod({ uid: 'a' })), created(pod({ uid: 'b' }))), ['T1'])
  assert.deepEqual(verdicts(created(pod({ uid: 'a' })), created(pod({ uid: 'b', rank: 1, attempt: 2 }))), ['T2'])
  assert.deepEqual(verdicts(created(pod({ uid: 'a', owner: 'j0' })), created(pod({ uid: 'b', rank: 1 }))), ['T2'])
})

test('T3: two sizes of one world', () => {
  assert.deepEqual(verdicts(created(pod({ uid: 'a' })), created(pod({ uid: 'b', rank: 1, world: '3' }))), ['T3'])
})

test('T4: retries that fall, exceed the limit, or count a pod twice', () => {
  const counted = job({ failures: 1, attempts: 2 })
  assert.deepEqual(verdicts(became(counted, job({ failures: 0, attempts: 2 }))), ['T4'])
  assert.deepEqual(verdicts(became(counted, job({ failures: 1, attempts: 1 }))), ['T4'])
  assert.deepEqual(verdicts(became(counted, job({ failures: 3, attempts: 3 }))), ['T4'])
  assert.deepEqual(verdicts(became(counted, job({ failures: 1, attempts: 2, failedPods: ['a', 'a'] }))), ['T4'])
})

test('T5: a way out of the end, a pod after it', () => {
  const done = job({ state: 'Completed' })
  assert.deepEqual(verdicts(created(done), became(done, job({ state: 'Running' }))), ['T5'])
  assert.deepEqual(verdicts(created(done), created(pod({ uid: 'late' }))), ['T5'])
  const early = pod({ uid: 'seen late' })
  assert.deepEqual(verdicts(created(job({ state: 'Failed' })), created(early)), [])
})

test('T6: checkpoints that are deleted, or would be', () => {
  const claim = (ownerReferences?: object[]): KubeObject =>
    ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c', uid: 'c', ownerReferences },
    }) as KubeObject
  assert.deepEqual(verdicts(created(claim())), [])
  assert.deepEqual(verdicts(deleted(claim())), ['T6'])
  assert.deepEqual(verdicts(created(claim(controller))), ['T6'])
})

test('G1: what is left of somebody who is no more', () => {
  const world = (...objects: readonly KubeObject[]): World => ({ all: () => objects, list: () => [] })
  const judged = (there: World): string[] => generalOracles.flatMap(({ atRest }) => atRest?.(there) ?? [])
  assert.deepEqual(judged(world(job({}), pod({ uid: 'a' }))), [])
  assert.deepEqual(judged(world(pod({ uid: 'a' }))), ['Pod/j-workers-0 outlives its owner'])
  const adopted = [...controller, { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }]
  assert.equal(judged(world(job({}), pod({ uid: 'a', ownerReferences: adopted }))).length, 1)
})

test('G2 and G3: a child without a parent, a generation that is not there, one that goes back', () => {
  assert.deepEqual(verdicts(created(pod({ uid: 'a', ownerReferences: [] }))), ['G2'])
  assert.deepEqual(verdicts(created(job({ observedGeneration: 3 }))), ['G3'])
  assert.deepEqual(verdicts(became(job({ observedGeneration: 2 }), job({ observedGeneration: 1 }))), ['G3'])
})

test('G4 and G5: one creation more, an end that is not the same', () => {
  const trace = (times: number, end: Record<string, string>): Trace => ({
    tally: new Map([['Pod/a', { created: times, deleted: 0 }]]),
    end: new Map(Object.entries(end)),
  })
  const reference = new Reference([trace(1, { x: '1', noise: '1' }), trace(1, { x: '1', noise: '2' })])
  assert.deepEqual(reference.differences(trace(1, { x: '1', noise: '3' })), [])
  assert.match(reference.differences(trace(2, { x: '1' })).join(), /G4: Pod\/a was created 2×/)
  assert.match(reference.differences(trace(1, { x: '2' })).join(), /G5: x is 2, without faults 1/)
  assert.match(reference.differences(trace(1, { x: '1', y: '1' })).join(), /G5: y is 1, without faults absent/)
})
