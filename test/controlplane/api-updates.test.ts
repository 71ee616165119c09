/** Changes of existing objects, and rules that depend on the stored state: by the CRDs alone, without a webhook. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { ApiError } from '../../src/kube/errors.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import {
  type Complete,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeTrainingJob,
} from '../builders/manifests.ts'
import { manifestsIn } from '../cluster/api.ts'
import { type ResourceQuota, resourceQuotas } from '../cluster/quota.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { assertRejected, clientWithApi, placed, type Spec, weights } from '../fixtures/admission.ts'
import { until } from '../timing/until.ts'

const client = await clientWithApi()

/** Changes of a complete object: accepted without words, rejected with them. */
const changes: readonly [Complete, Spec, Spec, ...string[]][] = [
  [completeTrainingJob, {}, { model: 'other' }, 'spec.model', 'immutable'],
  [completeTrainingJob, {}, { model: null }, 'spec.model', 'immutable'],
  [completeTrainingJob, { model: null, dataset: null }, { model: 'late' }, 'spec.model', 'immutable'],
  [completeTrainingJob, {}, { dataset: 'other' }, 'spec.dataset', 'immutable'],
  [completeTrainingJob, {}, { dataset: null }, 'spec.dataset', 'immutable'],
  [completeTrainingJob, {}, { gpusPerWorker: 4 }, 'spec.gpusPerWorker', 'immutable'],
  [completeTrainingJob, { roles: null }, { framework: 'jax' }, 'spec.framework', 'immutable'],
  [completeTrainingJob, { roles: null }, { engine: 'job' }, 'spec.engine', 'immutable'],
  [completeTrainingJob, {}, { roles: [{ name: 'ps', replicas: 3 }] }, 'spec.roles', 'immutable'],
  [completeTrainingJob, {}, { roles: null }, 'spec.roles', 'immutable'],
  [completeTrainingJob, {}, { managedBy: 'other.example.com/controller' }, 'spec.managedBy', 'immutable'],
  [completeTrainingJob, {}, { image: 'new', cleanPodPolicy: 'None', scheduling: null }],
  [completeTrainingJob, { elastic: null }, { numWorkers: 5 }, 'spec.numWorkers', 'spec.suspend'],
  [completeTrainingJob, {}, { numWorkers: 5, elastic: null }, 'spec.numWorkers', 'spec.elastic'],
  [completeTrainingJob, {}, { numWorkers: 9 }, 'spec.numWorkers', 'elastic.maxWorkers'],
  [completeTrainingJob, {}, { numWorkers: 8 }],
  [completeTrainingJob, { elastic: null, suspend: true }, { numWorkers: 9 }],
  [completeTrainingJob, { elastic: null, suspend: true }, { numWorkers: 9, suspend: false }],
  [completeTrainingJob, { elastic: null }, { numWorkers: 9, suspend: true }],
  [completeTrainingJob, { elastic: null }, { backoffLimit: 0, hyperparameters: { epochs: 3 } }],
  [completeModelDeployment, {}, { versions: weights(60, 30) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, {}, { versions: weights(60, 40), image: 'new' }],
  [completeMlopsModelDeployment, {}, { version: 'v3' }],
]

test('accepts changes of mutable fields, and rejects those of immutable fields', async (t) => {
  for (const [{ resource, manifest }, initial, change, ...words] of changes) {
    const into = await namespace(t)
    await client.create(resource, placed(manifest, into, withoutNulls({ ...manifest.spec, ...initial })))
    const key = { namespace: into, name: 'complete' }
    const attempt = client.patch(resource, key, { spec: change }).then(
      () => undefined,
      (error: unknown) => error as ApiError,
    )
    const what = JSON.stringify([initial, change])
    if (words.length > 0) await assertRejected(what, attempt, ...words)
    else assert.equal((await attempt)?.message, undefined, what)
  }
})

const withoutNulls = (spec: Spec): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null))

test('the scale subresource follows the same rules', async (t) => {
  const into = await namespace(t)
  const { resource, manifest } = completeTrainingJob
  await client.create(resource, placed(manifest, into))
  const key = { namespace: into, name: 'complete' }
  await client.patch(trainingJobs, key, { spec: { replicas: 6 } }, { subresource: 'scale' })
  assert.equal((await client.get(trainingJobs, key)).spec.numWorkers, 6)
  await assert.rejects(
    client.patch(trainingJobs, key, { spec: { replicas: 60 } }, { subresource: 'scale' }),
    /numWorkers must be between/,
  )
})

test('the status accepts valid values only', async (t) => {
  const into = await namespace(t)
  const { resource, manifest } = completeModelDeployment
  await client.create(resource, placed(manifest, into))
  const key = { namespace: into, name: 'complete' }
  const write = (status: unknown): Promise<KubeObject> =>
    client.patch(modelDeployments, key, { status }, { subresource: 'status' })
  await write({ phase: 'Running', activeVersions: [{ name: 'v1', replicas: 2, healthyReplicas: 2 }] })
  await assert.rejects(write({ phase: 'Happy' }), /status\.phase/)
  await assert.rejects(write({ metrics: { errorRate: -1 } }), /status\.metrics\.errorRate/)
  await assert.rejects(write({ conditions: [{ type: 'Ready', status: 'Perhaps' }] }), /status\.conditions/)
  const after = await client.get(modelDeployments, key)
  assert.equal(after.status?.phase, 'Running')
})

test('a quota of five rejects the sixth training job', async (t) => {
  const into = await namespace(t)
  const [quota] = (await manifestsIn('test/acceptance'))
    .flatMap(({ objects }) => objects)
    .filter(({ kind }) => kind === 'ResourceQuota')
  assert.ok(quota)
  await client.create(resourceQuotas, { ...quota, metadata: { ...quota.metadata, namespace: into } } as ResourceQuota)
  // The quota controller discovers a new kind after half a minute, and then counts only quotas that change.
  let attempt = 0
  await until(
    'the quota to be counted',
    async () => {
      const change = { spec: { hard: { 'count/secrets': String(1000 + attempt++) } } }
      await client.patch(resourceQuotas, { namespace: into, name: quota.metadata.name }, change)
      const { status } = await client.get(resourceQuotas, { namespace: into, name: quota.metadata.name })
      return status?.used?.['count/trainingjobs.ml.example.com'] === '0'
    },
    120_000,
  )
  const { resource, manifest } = completeTrainingJob
  const create = (index: number) => client.create(resource, placed(manifest, into, manifest.spec, `job-${index}`))
  for (const index of [1, 2, 3, 4, 5]) await create(index)
  await assert.rejects(create(6), (error: unknown) => {
    assert.ok(error instanceof ApiError && error.code === 403)
    assert.match(
      error.message,
      /exceeded quota: trainingjob-quota, requested: count\/trainingjobs\.ml\.example\.com=1, used: count\/trainingjobs\.ml\.example\.com=5, limited: count\/trainingjobs\.ml\.example\.com=5/,
    )
    return true
  })
})

test('two field managers own their entries of a list', async (t) => {
  const into = await namespace(t)
  const { manifest, resource } = completeModelDeployment
  await client.create(resource, placed(manifest, into))
  const entry = (name: string, weight: number) => ({ name, weight, modelPath: 's3://models/m' })
  const applied = (fieldManager: string, ...versions: unknown[]) =>
    client.apply(resource, placed(manifest, into, { versions }), { fieldManager, force: true })
  await applied('first', entry('v1', 50), entry('v2', 50))
  const after = await applied('second', entry('v2', 40), entry('v3', 10))
  assert.deepEqual(
    (after.spec['versions'] as { name: string; weight: number }[]).map(({ name, weight }) => [name, weight]),
    [
      ['v1', 50],
      ['v2', 40],
      ['v3', 10],
    ],
  )
})
