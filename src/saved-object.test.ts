import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PAUSED_ANNOTATION } from './api/paused.ts'
import { objectsIn } from './restore.ts'
import { ownerNameOf, pausedBefore, pausedCopy, savedOf, statusFor } from './saved-object.ts'

const owner = {
  apiVersion: 'ml.example.com/v1',
  kind: 'TrainingSchedule',
  name: 'nightly',
  uid: 'u1',
  controller: true,
}
const job = {
  apiVersion: 'ml.example.com/v1',
  kind: 'TrainingJob',
  metadata: {
    name: 'bert',
    namespace: 'team-a',
    uid: 'u2',
    resourceVersion: '7',
    generation: 3,
    labels: { team: 'a' },
    finalizers: ['trainingjob.ml.example.com/finalizer'],
    ownerReferences: [owner],
  },
  spec: { numWorkers: 2 },
  status: { state: 'Completed', observedGeneration: 3, conditions: [{ type: 'Complete', observedGeneration: 3 }] },
}

describe('a saved object', () => {
  const saved = savedOf(job)

  test('has nothing that belongs to its cluster', () => {
    assert.deepEqual(Object.keys(saved.metadata).toSorted(), ['annotations', 'labels', 'name', 'namespace'])
    assert.deepEqual([saved.spec, saved.status], [job.spec, job.status])
    assert.equal(ownerNameOf(saved), 'nightly')
  })

  test('is created paused, without its status, and controlled by the restored owner', () => {
    const schedule = { ...owner, metadata: { name: 'nightly', uid: 'new' } }
    const { metadata, ...rest } = pausedCopy(saved, schedule)
    assert.deepEqual(metadata.annotations, { [PAUSED_ANNOTATION]: 'restore' })
    assert.equal(metadata.ownerReferences?.[0]?.uid, 'new')
    assert.ok(!('status' in rest))
    assert.equal(pausedBefore(saved), null)
  })

  test('keeps a pause of its own', () => {
    const annotations = { [PAUSED_ANNOTATION]: 'true' }
    assert.equal(pausedBefore(savedOf({ ...job, metadata: { ...job.metadata, annotations } })), 'true')
  })

  test('has the cost so far, and nothing that its pods held', () => {
    const cost = { gpuHours: 2, held: { gpus: 8 } }
    const status = statusFor({ ...saved, status: { cost } } as typeof saved, job)
    assert.deepEqual(status, { cost: { gpuHours: 2 } })
  })

  test('has a status of the new generation', () => {
    const status = statusFor(saved, { ...job, metadata: { name: 'bert', generation: 1 } })
    const conditions = [{ type: 'Complete', observedGeneration: 1 }]
    assert.deepEqual(status, { state: 'Completed', observedGeneration: 1, conditions })
  })
})

describe('a file of saved objects', () => {
  test('is sorted by kind: owners come first', () => {
    const text = ['TrainingJob', 'TrainingSchedule']
      .map((kind) => `---\napiVersion: ml.example.com/v1\nkind: ${kind}\nmetadata: { name: a }\n`)
      .join('')
    assert.deepEqual(
      objectsIn(text).map(({ kind }) => kind),
      ['TrainingSchedule', 'TrainingJob'],
    )
    assert.deepEqual(objectsIn(''), [])
  })

  for (const [name, text] of [
    ['other kinds', 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }'],
    ['no objects', 'just text'],
    ['objects without a name', 'apiVersion: ml.example.com/v1\nkind: TrainingJob'],
  ] as const)
    test(`is rejected if it has ${name}`, () => {
      assert.throws(() => objectsIn(text), /document 1 is no object of ml-operator backup/)
    })
})
