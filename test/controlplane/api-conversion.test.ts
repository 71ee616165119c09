/** Two versions of one kind on a real API server, and the conversion webhook. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HIDDEN_FIELDS } from '../../src/api/conversion.ts'
import { kinds, alphaTrainingJobs, trainingJobs } from '../../src/api/kinds.ts'
import type { AlphaTrainingJob } from '../../src/api/trainingjob.v1alpha1.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { ApiError } from '../../src/kube/errors.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { flaws } from '../builders/flaws.ts'
import { completeAlphaTrainingJob, type Manifest } from '../builders/manifests.ts'
import { manifestsIn } from '../cluster/api.ts'
import { alphaJob, client, failures, job, plane, running, warnings } from '../fixtures/conversion.ts'

test('the CRDs are accepted without a warning', async () => {
  assert.deepEqual(warnings, [])
  const { items } = await client.list(CustomResourceDefinition)
  assert.equal(items.length, kinds.length)
  for (const { status } of items) {
    const bad = status?.conditions?.filter(({ type, status: is }) => type === 'NonStructuralSchema' && is === 'True')
    assert.deepEqual(bad, [])
  }
})

test('v1 does not need the webhook', async () => {
  await client.create(trainingJobs, job('alone'))
  await client.patch(trainingJobs, { namespace: 'ml-jobs', name: 'alone' }, { spec: { backoffLimit: 1 } })
  await client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'alone' })
})

test('every acceptance manifest and every example is accepted unchanged', async (t) => {
  await running(t)
  const files = [...(await manifestsIn('test/acceptance')), ...(await manifestsIn('examples'))]
  assert.ok(files.length >= 14)
  for (const { file } of files) {
    await plane.kubectl('apply', '--dry-run=server', '--validate=strict', '-f', file)
    await plane.kubectl('apply', '--validate=strict', '-f', file)
    await plane.kubectl('apply', '--server-side', '--force-conflicts', '-f', file)
  }
  assert.deepEqual(failures, [])
  assert.deepEqual(warnings, [])
})

test('kubectl shows the columns, the short names, the category and the descriptions', async (t) => {
  await running(t)
  const columns = async (...args: string[]): Promise<string[]> =>
    (await plane.kubectl('get', ...args)).split('\n')[0]?.split(/\s+/).filter(Boolean) ?? []
  assert.deepEqual(await columns('tj', '-n', 'default'), [
    'NAME',
    'STATE',
    'PROGRESS',
    'EPOCH',
    'WORKERS',
    'AGE',
    'READY',
    'ETA',
    'RESTARTS',
    'REASON',
  ])
  assert.deepEqual(await columns('md', '-n', 'ml-models'), [
    'NAME',
    'FRAMEWORK',
    'PHASE',
    'REPLICAS',
    'AGE',
    'READY',
    'VERSIONS',
    'RPS',
    'URL',
  ])
  assert.deepEqual(await columns('trainingjobs.v1alpha1.ml.example.com', '-n', 'ml-team'), [
    'NAME',
    'FRAMEWORK',
    'WORKERS',
    'PHASE',
    'AGE',
  ])
  const listed = await plane.kubectl('get', 'tj,md,ms', '-A')
  for (const name of ['test-job', 'mnist-training', 'sentiment-analysis', 'my-server'])
    assert.match(listed, new RegExp(name))
  const all = await plane.kubectl('get', 'ml', '-A')
  for (const name of ['test-job', 'sentiment-analysis', 'my-server', 'custom-model'])
    assert.match(all, new RegExp(name))
  assert.match(await plane.kubectl('explain', 'tj.spec.checkpoint.storage.path'), /Location of the checkpoints/)
  assert.match(await plane.kubectl('explain', 'md.spec.versions.weight'), /sum to 100/)
  assert.match(
    await plane.kubectl('explain', 'tj', '--api-version=ml.example.com/v1alpha1', '--recursive'),
    /checkpointDir/,
  )
  await assert.rejects(
    plane.kubectl.with([{ ...job('typo', 'default'), spec: { ...job('typo').spec, gpuPerWorker: 1 } }], 'create'),
    /unknown field "(spec\.)?gpuPerWorker"/,
  )
})

test('kubectl wait works with conditions', async (t) => {
  await client.create(trainingJobs, job('waited'))
  t.after(() => client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'waited' }))
  const waiting = plane.kubectl('wait', '--for=condition=Complete', 'tj/waited', '-n', 'ml-jobs', '--timeout=60s')
  const condition = {
    type: 'Complete',
    status: 'True',
    reason: 'Done',
    message: 'all epochs',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  }
  await client.patch(
    trainingJobs,
    { namespace: 'ml-jobs', name: 'waited' },
    { status: { state: 'Completed', conditions: [condition] } },
    { subresource: 'status' },
  )
  assert.match(await waiting, /condition met/)
})

test('rejects invalid v1alpha1 manifests by field', async (t) => {
  await running(t)
  const { resource, manifest } = completeAlphaTrainingJob
  const byHand = [
    { spec: { ...manifest.spec, checkpointDir: '/a/../b' }, field: 'checkpointDir' },
    { spec: { ...manifest.spec, checkpointDir: 's3://bucket' }, field: 'checkpointDir' },
    { spec: { ...manifest.spec, workers: 101 }, field: 'workers' },
    { spec: { ...manifest.spec, framework: 'jax' }, field: 'framework' },
    { spec: { ...manifest.spec, hyperparameters: { learningRate: 'fast' } }, field: 'learningRate' },
    { spec: { ...manifest.spec, dataVolume: { claimName: '../x' } }, field: 'claimName' },
  ]
  const bad = [...flaws(completeAlphaTrainingJob), ...byHand]
  for (const { spec, field } of bad) {
    const broken = { ...manifest, metadata: { name: 'bad', namespace: 'ml-jobs' }, spec } as Manifest
    await assert.rejects(client.create(resource, broken, { dryRun: true }), (error: unknown) => {
      assert.ok(error instanceof ApiError && [400, 422].includes(error.code), String(error))
      assert.ok(error.message.includes(field), `${field} is not in: ${error.message}`)
      return true
    })
  }
  await client.create(alphaTrainingJobs, alphaJob('fixed'))
  const key = { namespace: 'ml-jobs', name: 'fixed' }
  await assert.rejects(client.patch(alphaTrainingJobs, key, { spec: { gpuPerWorker: 2 } }), /gpuPerWorker is immutable/)
  await client.delete(alphaTrainingJobs, key)
  t.diagnostic(`${bad.length} invalid manifests rejected`)
})

test('a job created in one version can be read and changed in both, across a restart of the webhook', async (t) => {
  const first = await running(t)
  const key = { namespace: 'ml-jobs', name: 'both' }
  const created = await client.create(alphaTrainingJobs, alphaJob('both'))
  assert.deepEqual(created.spec, completeAlphaTrainingJob.manifest.spec)
  assert.equal(created.metadata.annotations, undefined)

  const stored = await client.get(trainingJobs, key)
  assert.equal(stored.spec.numWorkers, 4)
  const resizing = { resizePolicy: 'AtCheckpoint', maxWaitSeconds: 600 }
  assert.deepEqual(stored.spec.elastic, { minWorkers: 1, maxWorkers: 100, ...resizing })
  await client.patch(trainingJobs, key, { spec: { backoffLimit: 7, elastic: { minWorkers: 2, maxWorkers: 6 } } })
  await client.patch(trainingJobs, key, { status: { state: 'Restarting', progress: '45%' } }, { subresource: 'status' })
  await first.close()
  await running(t)

  const seen = await client.get(alphaTrainingJobs, key)
  assert.deepEqual(seen.spec, created.spec)
  assert.equal(seen.status?.phase, 'Running')
  assert.ok(seen.metadata.annotations?.[HIDDEN_FIELDS])

  const patch = '[{"op": "replace", "path": "/spec/workers", "value": 5}]'
  const inAlpha = 'trainingjobs.v1alpha1.ml.example.com/both'
  await plane.kubectl('patch', inAlpha, '-n', 'ml-jobs', '--type=json', `-p=${patch}`)
  await client.patch(alphaTrainingJobs, key, { status: { phase: 'Succeeded' } }, { subresource: 'status' })
  const final = await client.get(trainingJobs, key)
  assert.equal(final.spec.numWorkers, 5)
  assert.equal(final.spec.backoffLimit, 7)
  assert.deepEqual(final.spec.elastic, { minWorkers: 2, maxWorkers: 6, ...resizing })
  assert.deepEqual(final.status, { state: 'Completed', progress: '45%' })
  assert.equal(final.metadata.annotations, undefined)

  await client.apply(alphaTrainingJobs, { ...alphaJob('both'), spec: { workers: 3 } } as unknown as AlphaTrainingJob, {
    force: true,
  })
  assert.equal((await client.get(trainingJobs, key)).spec.numWorkers, 3)
  await client.delete(alphaTrainingJobs, key)
  assert.deepEqual(failures, [])
})

test('a v1 job that v1alpha1 cannot express is listed there, and survives an update unchanged', async (t) => {
  await running(t)
  const key = { namespace: 'ml-jobs', name: 'hidden' }
  const created = await client.create(trainingJobs, job('hidden'))
  const { items } = await client.list(alphaTrainingJobs, { namespace: 'ml-jobs' })
  const seen = items.find(({ metadata }) => metadata.name === 'hidden')
  assert.ok(seen)
  await client.update(alphaTrainingJobs, { ...seen, metadata: { ...seen.metadata, labels: { touched: 'yes' } } })
  const replaced = await client.get(trainingJobs, key)
  assert.deepEqual(replaced.spec, created.spec)
  assert.equal(replaced.metadata.labels?.['touched'], 'yes')
  assert.equal(replaced.metadata.annotations, undefined)
  await client.delete(trainingJobs, key)
})

test('a job created in v1alpha1 can be changed in v1 without the webhook', async (t) => {
  const webhook = await running(t)
  const key = { namespace: 'ml-jobs', name: 'orphaned' }
  await client.create(alphaTrainingJobs, alphaJob('orphaned'))
  await webhook.close()

  const status = { state: 'Running' }
  await client.patch(trainingJobs, key, { status }, { subresource: 'status' })
  const applied = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata: key,
    status,
  } as unknown as TrainingJob
  await client.apply(trainingJobs, applied, { subresource: 'status', force: true })
  await client.patch(trainingJobs, key, {
    spec: { backoffLimit: 1 },
    metadata: { finalizers: ['ml.example.com/test'] },
  })
  await client.patch(trainingJobs, key, { metadata: { finalizers: null } })
  await client.delete(trainingJobs, key)
  assert.deepEqual(failures, [])
})

test('a watch in one version sees changes made in the other', async (t) => {
  await running(t)
  const stop = new AbortController()
  t.after(() => stop.abort())
  await client.create(trainingJobs, job('watched'))
  const key = { namespace: 'ml-jobs', name: 'watched' }
  for await (const update of watch(client, alphaTrainingJobs, { namespace: 'ml-jobs', signal: stop.signal })) {
    if (update.type === 'replace') await client.patch(trainingJobs, key, { spec: { numWorkers: 7 } })
    if (update.type !== 'apply' || update.object.spec.workers !== 7) continue
    assert.equal(update.object.apiVersion, 'ml.example.com/v1alpha1')
    break
  }
  await client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'watched' })
})
