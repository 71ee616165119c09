/** Each oracle of the crash tests is given a history that violates it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import { ATTEMPT_LABEL, INDEX_LABEL, JOB_UID_LABEL, ROLE_LABEL } from '../../src/plan/training/index.ts'
import { Reference, type Trace } from '../crash/oracles/differential.ts'
import { generalOracles } from '../crash/oracles/general-oracles.ts'
import { allowLateCreations } from '../crash/oracles/late-creation.ts'
import { trainingOracles } from '../crash/oracles/training-oracles.ts'
import type { ClusterView, ObservedChange, Oracle } from '../crash/oracles/oracle.ts'

let versions = 100

interface PodOptions {
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
}: PodOptions): KubeObject {
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

const violated = (...history: readonly ObservedChange[]): string[] => violatedOf(trainingOracles(), ...history)

/** Passes a history to the oracles. Returns the names of those that are violated. */
function violatedOf(oracles: readonly Oracle[], ...history: readonly ObservedChange[]): string[] {
  const objects = new Map<string, KubeObject>()
  const cluster: ClusterView = {
    all: () => [...objects.values()],
    list: ({ kind }) => [...objects.values()].filter((object) => object.kind === kind) as never,
  }
  return history.flatMap((change) => {
    const { type, object } = change
    if (type === 'deleted') objects.delete(object.metadata.uid ?? '')
    else objects.set(object.metadata.uid ?? '', object)
    return oracles.flatMap(({ name, onChange }) => (onChange?.(change, cluster) === undefined ? [] : [name]))
  })
}

const created = (object: KubeObject): ObservedChange => ({ type: 'created', object })
const deleted = (object: KubeObject): ObservedChange => ({ type: 'deleted', object })
const became = (previous: KubeObject, object: KubeObject): ObservedChange => ({ type: 'changed', object, previous })

test('accepts a correct history', () => {
  const [first, second] = [pod({ uid: 'a' }), pod({ uid: 'b', rank: 1 })]
  const again = pod({ uid: 'c', attempt: 2 })
  const running = job({ state: 'Running', attempts: 1, observedGeneration: 1 })
  const restarted = job({ state: 'Running', attempts: 2, failures: 1, observedGeneration: 2 })
  const done = job({ state: 'Completed', attempts: 2, failures: 1, observedGeneration: 2 })
  const pods = [created(first), created(second), deleted(first), deleted(second), created(again)]
  assert.deepEqual(violated(created(running), ...pods, became(running, restarted), became(restarted, done)), [])
})

test('T1 and T2: a second pod of a rank, two attempts at once, pods of an earlier job of the same name', () => {
  assert.deepEqual(violated(created(pod({ uid: 'a' })), created(pod({ uid: 'b' }))), ['T1'])
  assert.deepEqual(violated(created(pod({ uid: 'a' })), created(pod({ uid: 'b', rank: 1, attempt: 2 }))), ['T2'])
  assert.deepEqual(violated(created(pod({ uid: 'a', owner: 'j0' })), created(pod({ uid: 'b', rank: 1 }))), ['T2'])
})

test('T3: two WORLD_SIZEs in one attempt', () => {
  assert.deepEqual(violated(created(pod({ uid: 'a' })), created(pod({ uid: 'b', rank: 1, world: '3' }))), ['T3'])
})

test('T4: failures that decrease, exceed the limit, or count a pod twice', () => {
  const counted = job({ failures: 1, attempts: 2 })
  assert.deepEqual(violated(became(counted, job({ failures: 0, attempts: 2 }))), ['T4'])
  assert.deepEqual(violated(became(counted, job({ failures: 1, attempts: 1 }))), ['T4'])
  assert.deepEqual(violated(became(counted, job({ failures: 3, attempts: 3 }))), ['T4'])
  assert.deepEqual(violated(became(counted, job({ failures: 1, attempts: 2, failedPods: ['a', 'a'] }))), ['T4'])
})

test('T5: a terminal state that changes, a pod after it', () => {
  const done = job({ state: 'Completed' })
  assert.deepEqual(violated(created(done), became(done, job({ state: 'Running' }))), ['T5'])
  assert.deepEqual(violated(created(done), created(pod({ uid: 'late' }))), ['T5'])
  const early = pod({ uid: 'seen late' })
  assert.deepEqual(violated(created(job({ state: 'Failed' })), created(early)), [])
})

test('T6: checkpoint claims that are deleted or have an owner', () => {
  const claim = (ownerReferences?: object[]): KubeObject =>
    ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c', uid: 'c', ownerReferences },
    }) as KubeObject
  assert.deepEqual(violated(created(claim())), [])
  assert.deepEqual(violated(deleted(claim())), ['T6'])
  assert.deepEqual(violated(created(claim(controller))), ['T6'])
})

test('G1: objects that outlive their owner', () => {
  const clusterOf = (...objects: readonly KubeObject[]): ClusterView => ({ all: () => objects, list: () => [] })
  const judged = (cluster: ClusterView): string[] => generalOracles().flatMap(({ atRest }) => atRest?.(cluster) ?? [])
  assert.deepEqual(judged(clusterOf(job({}), pod({ uid: 'a' }))), [])
  assert.deepEqual(judged(clusterOf(pod({ uid: 'a' }))), ['Pod/j-workers-0 outlives its owner'])
  const adopted = [...controller, { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }]
  assert.equal(judged(clusterOf(job({}), pod({ uid: 'a', ownerReferences: adopted }))).length, 1)
})

test('G2 and G3: a child without a controller, an observedGeneration that does not exist or decreases', () => {
  assert.deepEqual(violated(created(pod({ uid: 'a', ownerReferences: [] }))), ['G2'])
  assert.deepEqual(violated(created(job({ observedGeneration: 3 }))), ['G3'])
  assert.deepEqual(violated(became(job({ observedGeneration: 2 }), job({ observedGeneration: 1 }))), ['G3'])
})

test('G4 and G5: one creation too many, another end state', () => {
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

test('G4 and G5: a gang that was taken back is created once more, and counted as one attempt more', () => {
  const trace = (starts: number, ends: number, attempts: number, more: object = {}): Trace => ({
    tally: new Map([['Pod/a', { created: starts, deleted: ends }]]),
    end: new Map(Object.entries({ 'TrainingJob/j.status.attempts': String(attempts), x: '1', ...more })),
  })
  const reference = new Reference([trace(2, 1, 2), trace(2, 1, 2)])
  const judged = (retries: number, run: Trace): string => reference.differences({ ...run, retries }).join()
  assert.equal(judged(1, trace(3, 2, 3)), '')
  assert.equal(judged(1, trace(2, 1, 3)), '', 'another pod of the gang')
  assert.match(judged(0, trace(3, 2, 3)), /G4.*G5/)
  assert.match(judged(1, trace(4, 3, 3)), /G4: Pod\/a was created 4×/)
  assert.match(judged(1, trace(3, 1, 3)), /G4: Pod\/a was created 3×, deleted 1×/)
  assert.match(judged(1, trace(3, 2, 4)), /G5: TrainingJob\/j.status.attempts is 4, expected 2 and at most 1 more/)
  assert.match(judged(1, trace(3, 2, 3, { x: '2' })), /G5: x is 2/)
})

test('G2: a status that is written over and over while nothing else changes', () => {
  const violations = (history: readonly ObservedChange[]): string[] => {
    const cluster: ClusterView = { all: () => [], list: () => [] }
    const oracles = generalOracles()
    return history.flatMap((change) => oracles.flatMap(({ onChange }) => onChange?.(change, cluster) ?? []))
  }
  const wordings = Array.from({ length: 60 }, (_, attempt) => job({ reason: `Refused: request ${attempt}` }))
  const loop = wordings.slice(1).map((object, attempt) => became(wordings[attempt] as KubeObject, object))
  assert.match(violations(loop).join(), /^the status of TrainingJob\/j was written 30 times/)
  const busy = loop.flatMap((write, attempt) =>
    attempt % 10 === 9 ? [write, created(pod({ uid: `p${attempt}` }))] : [write],
  )
  assert.deepEqual(violations(busy), [], 'other changes in between')
})

test('T2 and T5 allow a pod that a paused leader creates late, and no other', () => {
  const history = (rank: number) => [created(pod({ uid: 'a', attempt: 2 })), created(pod({ uid: 'b', rank }))]
  const late = new Set(['pods/j-workers-1'])
  const oracles = trainingOracles().map((oracle) => allowLateCreations(oracle, late))
  assert.deepEqual(violatedOf(oracles, ...history(2)), ['T2'])
  assert.deepEqual(violatedOf(oracles, ...history(1)), [])
})
