import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerReview } from './conversion-review.ts'

const alpha = {
  apiVersion: 'ml.example.com/v1alpha1',
  kind: 'TrainingJob',
  metadata: { name: 'mnist' },
  spec: { framework: 'pytorch', image: 'i', command: ['c'], workers: 3 },
}

const review = (desiredAPIVersion: string, ...objects: unknown[]): unknown => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'abc', desiredAPIVersion, objects },
})

test('converts objects in order and returns the uid of the request', () => {
  const { response } = answerReview(
    review('ml.example.com/v1', alpha, { ...alpha, spec: { ...alpha.spec, workers: 5 } }),
  )
  assert.equal(response.uid, 'abc')
  assert.deepEqual(response.result, { status: 'Success' })
  const jobs = response.convertedObjects as { apiVersion: string; spec: { numWorkers: number } }[] // eslint-disable-line typescript/no-unsafe-type-assertion -- asserted below
  assert.deepEqual(
    jobs.map(({ spec }) => spec.numWorkers),
    [3, 5],
  )
  assert.equal(jobs[0]?.apiVersion, 'ml.example.com/v1')
  const back = answerReview(review('ml.example.com/v1alpha1', jobs[0]))
  assert.deepEqual(back.response.convertedObjects, [alpha])
})

test('an object that already has the version stays unchanged', () => {
  assert.deepEqual(answerReview(review('ml.example.com/v1alpha1', alpha)).response.convertedObjects, [alpha])
})

test('an object that cannot be converted fails the review, which names it', () => {
  const { response } = answerReview(review('ml.example.com/v2', alpha))
  assert.deepEqual(response.convertedObjects, [])
  assert.deepEqual(response.result, {
    status: 'Failure',
    message: 'TrainingJob mnist: no conversion from ml.example.com/v1alpha1 to ml.example.com/v2',
  })
})

test('invalid reviews are answered, never thrown', () => {
  const odd = [undefined, null, 1, 'x', [], {}, { request: 1 }, { request: { uid: 1, objects: {} } }]
  for (const body of odd) assert.equal(answerReview(body).response.result.status, 'Failure')
  for (const object of [null, 1, {}, { kind: 'Pod', metadata: {} }, { kind: 'TrainingJob' }]) {
    assert.equal(answerReview(review('ml.example.com/v1', object)).response.result.status, 'Failure')
  }
})

test('converts partial objects, as the server sends them while it merges', () => {
  const bare = { apiVersion: 'ml.example.com/v1alpha1', kind: 'TrainingJob', metadata: { name: 'mnist' } }
  for (const body of [{}, { status: { phase: 'Running' } }, { spec: {} }, { spec: { workers: 'many', command: 1 } }]) {
    const { response } = answerReview(review('ml.example.com/v1', { ...bare, ...body }))
    assert.equal(response.result.status, 'Success')
    const back = answerReview(review('ml.example.com/v1alpha1', ...response.convertedObjects))
    assert.deepEqual(back.response.convertedObjects, [{ ...bare, ...body }])
  }
})
