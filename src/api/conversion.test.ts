import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryOf } from '../../test/random/arbitrary.ts'
import { phaseOfState, stateOfPhase } from './alpha-view.ts'
import { HIDDEN_FIELDS, toV1, toV1alpha1 } from './conversion.ts'
import { withDefaults } from './defaults.ts'
import { compact } from './json.ts'
import type { KindVersion } from './kind.ts'
import { plain } from './structural.ts'
import { type TrainingJob, trainingJobV1 } from './trainingjob.v1.ts'
import { type AlphaTrainingJob, trainingJobV1alpha1 } from './trainingjob.v1alpha1.ts'
import { fits } from './validity.ts'

const RUNS = { numRuns: 1000 }

const metadata = fc
  .record(
    {
      name: fc.constant('job'),
      namespace: fc.constant('team-a'),
      resourceVersion: fc.constant('42'),
      annotations: fc.constant({ note: 'mine' }),
      labels: fc.constant({ team: 'a' }),
    },
    { requiredKeys: ['name'] },
  )
  .map((value) => ({ ...value }))

function objectsOf<T>(version: KindVersion): fc.Arbitrary<T> {
  const parts = { metadata, spec: arbitraryOf(plain(version.spec)), status: arbitraryOf(plain(version.status)) }
  return fc.record(parts, { requiredKeys: ['metadata', 'spec'] }).map(
    (value) => ({ apiVersion: `ml.example.com/${version.name}`, kind: 'TrainingJob', ...value }) as T, // eslint-disable-line typescript/no-unsafe-type-assertion -- generated from the schema of T
  )
}

const alphas = objectsOf<AlphaTrainingJob>(trainingJobV1alpha1)

/** The schema cannot say that the bounds hold the workers; CEL does on the server. */
const jobs = objectsOf<TrainingJob>(trainingJobV1).map((job): TrainingJob => {
  const { elastic, numWorkers } = job.spec
  if (elastic === undefined) return job
  const bounds = [elastic.minWorkers ?? 1, elastic.maxWorkers].toSorted((a, b) => a - b)
  const [minWorkers = 1, maxWorkers = 1] = bounds
  const fitting = numWorkers === undefined ? undefined : Math.min(Math.max(numWorkers, minWorkers), maxWorkers)
  return {
    ...job,
    spec: compact({ ...job.spec, elastic: { ...elastic, minWorkers, maxWorkers }, numWorkers: fitting }),
  }
})

const asServed = <T extends AlphaTrainingJob | TrainingJob>(version: KindVersion, object: T): T => ({
  ...object,
  spec: withDefaults(version.spec, object.spec),
})

test('v1 → v1alpha1 → v1 gives the same object', () => {
  fc.assert(
    fc.property(jobs, (job) => assert.deepEqual(toV1(toV1alpha1(job)), job)),
    RUNS,
  )
})

test('v1alpha1 → v1 → v1alpha1 gives the same object', () => {
  fc.assert(
    fc.property(alphas, (alpha) => assert.deepEqual(toV1alpha1(toV1(alpha)), alpha)),
    RUNS,
  )
})

test('the defaults that a server adds on either side do not show on the other', () => {
  fc.assert(
    fc.property(alphas, (written) => {
      const alpha = asServed(trainingJobV1alpha1, written)
      const stored = asServed(trainingJobV1, toV1(alpha))
      assert.deepEqual(stored, toV1(alpha), 'a converted job already has its defaults')
      assert.deepEqual(toV1alpha1(stored), alpha)
    }),
    RUNS,
  )
})

test('conversion leaves its input alone and yields what the v1 schema allows', () => {
  fc.assert(
    fc.property(alphas, (alpha) => {
      const before = structuredClone(alpha)
      const job = toV1(alpha)
      assert.deepEqual(alpha, before)
      assert.ok(fits(trainingJobV1.spec, job.spec))
    }),
  )
})

test('a change made in v1alpha1 wins over what was hidden from it, and the rest is kept', () => {
  fc.assert(
    fc.property(jobs, alphas, (job, other) => {
      const { annotations, ...rest } = toV1alpha1(job).metadata
      const changed: AlphaTrainingJob = { ...other, metadata: compact({ ...rest, annotations }) }
      const seen = toV1alpha1(toV1(changed))
      assert.deepEqual(seen.spec, changed.spec)
      assert.deepEqual(seen.status, changed.status)
      assert.equal(toV1(changed).spec.backoffLimit ?? 3, job.spec.backoffLimit ?? 3)
    }),
    RUNS,
  )
})

test('an annotation by someone else changes nothing that shows and nothing that is not allowed', () => {
  const pointer = fc.constantFrom(
    '/spec/backoffLimit',
    '/spec/numWorkers',
    '/spec/elastic/maxWorkers',
    '/metadata/name',
    '/spec/__proto__/x',
    '/status/state',
  )
  const forged = fc.oneof(
    fc.string(),
    fc.json(),
    fc.dictionary(pointer, fc.jsonValue()).map((edits) => JSON.stringify(edits)),
  )
  fc.assert(
    fc.property(alphas, forged, (alpha, annotation) => {
      const annotations = { ...alpha.metadata.annotations, [HIDDEN_FIELDS]: annotation }
      const job = toV1({ ...alpha, metadata: { ...alpha.metadata, annotations } })
      assert.equal(job.metadata.name, 'job')
      assert.ok(fits(trainingJobV1.spec, job.spec))
      assert.deepEqual(toV1alpha1(job).spec, alpha.spec)
      assert.equal(job.metadata.annotations?.[HIDDEN_FIELDS], undefined)
    }),
    RUNS,
  )
})

test('every phase and state has a counterpart, and a phase survives the detour', () => {
  for (const [phase, state] of Object.entries(stateOfPhase)) assert.equal(phaseOfState[state], phase)
})

test('every phase follows the life of a job: what has started stays so until it ends or is suspended', () => {
  const life = ['Pending', 'Initializing', 'Running', 'Restarting', 'Completed'] as const
  const order = ['Pending', 'Running', 'Succeeded']
  const places = life.map((state) => order.indexOf(phaseOfState[state]))
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  )
  assert.equal(phaseOfState.Restarting, phaseOfState.Running)
  for (const state of ['Suspending', 'Suspended'] as const) assert.equal(phaseOfState[state], 'Pending')
})

const mnist: AlphaTrainingJob = {
  apiVersion: 'ml.example.com/v1alpha1',
  kind: 'TrainingJob',
  metadata: { name: 'mnist-training', namespace: 'ml-team' },
  spec: withDefaults(trainingJobV1alpha1.spec, {
    framework: 'pytorch',
    workers: 4,
    gpuPerWorker: 1,
    image: 'pytorch/pytorch:1.12.0-cuda11.3',
    command: ['python', '/workspace/train.py'],
    dataVolume: { claimName: 'training-data-pvc' },
    checkpointDir: '/checkpoints/mnist',
    checkpointInterval: 2,
    hyperparameters: { learningRate: '0.001' },
    restartPolicy: 'OnFailure',
  }),
  status: { phase: 'Succeeded' },
}

test('a v1alpha1 job becomes an elastic v1 job with its checkpoint directory', () => {
  const { spec, status, metadata: meta } = toV1(mnist)
  assert.equal(spec.numWorkers, 4)
  assert.equal(spec.gpusPerWorker, 1)
  const resizing = { resizePolicy: 'AtCheckpoint', maxWaitSeconds: 600 }
  assert.deepEqual(spec.elastic, { minWorkers: 1, maxWorkers: 100, ...resizing })
  assert.equal(spec.checkpoint.enabled, true)
  assert.equal(spec.checkpoint.frequency, 2)
  assert.deepEqual(spec.checkpoint.storage, { type: 'pvc', path: '/checkpoints/mnist', size: '100Gi' })
  assert.equal(status?.state, 'Completed')
  assert.equal(meta.annotations, undefined)
})

test('without a checkpoint directory no checkpoints are kept', () => {
  const { checkpointDir, ...spec } = mnist.spec
  assert.equal(checkpointDir, '/checkpoints/mnist')
  assert.equal(toV1({ ...mnist, spec }).spec.checkpoint.enabled, false)
})

test('scaling in v1alpha1 beyond hidden bounds drops the bounds, not the request', () => {
  const job = {
    ...toV1(mnist),
    spec: { ...toV1(mnist).spec, backoffLimit: 7, elastic: { minWorkers: 2, maxWorkers: 4 } },
  } as TrainingJob
  const alpha = toV1alpha1(job)
  const scaled = toV1({ ...alpha, spec: { ...alpha.spec, workers: 8 } })
  assert.equal(scaled.spec.numWorkers, 8)
  assert.deepEqual(scaled.spec.elastic, { minWorkers: 2, maxWorkers: 100 })
  assert.equal(scaled.spec.backoffLimit, 7)
})

test('scaling in v1alpha1 makes a job elastic, because in v1 no other may change its size', () => {
  const { elastic, ...spec } = toV1(mnist).spec
  assert.ok(elastic)
  const alpha = toV1alpha1({ ...toV1(mnist), spec })
  assert.equal(toV1(alpha).spec.elastic, undefined)
  assert.deepEqual(toV1({ ...alpha, spec: { ...alpha.spec, workers: 8 } }).spec.elastic, elastic)

  const suspended = toV1alpha1({ ...toV1(mnist), spec: { ...spec, suspend: true } })
  const scaled = toV1({ ...suspended, spec: { ...suspended.spec, workers: 8 } })
  assert.equal(scaled.spec.elastic, undefined, 'a suspended job may change its size as it is')
})

test('a state that v1alpha1 cannot name comes back unless the phase has moved on', () => {
  const job: TrainingJob = { ...toV1(mnist), status: { state: 'Restarting', progress: '45%' } }
  const alpha = toV1alpha1(job)
  assert.equal(alpha.status?.phase, 'Running')
  assert.equal(toV1(alpha).status?.state, 'Restarting')
  assert.deepEqual(toV1({ ...alpha, status: { phase: 'Failed' } }).status, { state: 'Failed', progress: '45%' })
})

/** Forged annotations of about `size` bytes, each with one edit that cannot be made, so that they are not taken as a whole. */
const forgeries: Readonly<Record<string, (size: number) => string>> = {
  'unknown fields': (size) => annotationOf(size, (i) => [`/spec/x${i}`, 1]),
  'unknown fields of a field that shows in part': (size) => annotationOf(size, (i) => [`/spec/checkpoint/x${i}`, 1]),
  'a field that shows': (size) => annotationOf(size, (i) => [`/spec/hyperparameters/x${i}`, i]),
  'a map': (size) => annotationOf(size, (i) => [`/spec/scheduling/nodeSelector/x${i}`, 'a']),
  'long pointers': (size) => annotationOf(size, (i) => [`/spec/x${i}${'/a'.repeat(10)}${'x'.repeat(size / 2_200)}`, 1]),
  'one endless pointer': (size) => `{"/spec/numWorkers":0,"/spec${'/a'.repeat(size / 2)}":1}`,
  'as many fields as are read': (size) => annotationOf(size, (i) => [`/spec/x${i}`, 'x'.repeat(size / 2_000)]),
  'deep nesting': (size) => `{"/spec/numWorkers":0,"/spec/x":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
  prototypes: (size) => annotationOf(size, (i) => [`/spec/__proto__/x${i}`, 1]),
  'one long key': (size) => `{"/spec/numWorkers":0,"/spec/${'x'.repeat(size)}":1}`,
}

function annotationOf(size: number, edit: (i: number) => readonly [string, unknown]): string {
  const made: string[] = ['"/spec/numWorkers":0']
  let length = made.join().length
  for (let i = 0; length < size; i++) {
    const [at, value] = edit(i)
    const text = `${JSON.stringify(at)}:${JSON.stringify(value)}`
    made.push(text)
    length += text.length + 1
  }
  return `{${made.join(',')}}`
}

const jobWith = (annotation: string): AlphaTrainingJob => ({
  ...mnist,
  metadata: { ...mnist.metadata, annotations: { [HIDDEN_FIELDS]: annotation } },
})

/** Milliseconds of processor time for one conversion, the best of some tries. */
function cost(work: () => unknown): number {
  const tries = Array.from({ length: 8 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...tries)
}

for (const [what, forge] of Object.entries(forgeries)) {
  test(`an annotation of 256 KiB with ${what} costs less than 100 ms`, () => {
    const job = jobWith(forge(256 * 1024))
    const stored = toV1(job)
    for (const ms of [cost(() => toV1(job)), cost(() => JSON.stringify(toV1alpha1(stored)))])
      assert.ok(ms < 100, `${ms} ms`)
    assert.deepEqual(toV1alpha1(toV1(job)).spec, mnist.spec)
    assert.equal(Object.hasOwn(Object.prototype, 'x0'), false)
  })
}
