/** What the API server lets in, and what it refuses, by the definitions alone: no webhook is running here. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { withDefaults } from '../../src/api/defaults.ts'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { ApiError, isForbidden } from '../../src/kube/errors.ts'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { installApi, manifestsIn } from '../api.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import {
  type Complete,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeModelServer,
  completeTrainingJob,
  flaws,
  type Manifest,
} from '../manifests.ts'
import { until } from '../until.ts'

type Spec = Record<string, unknown>

let client: Client
before(async () => {
  client = (await sharedCluster()).client
  await installApi(client)
})

const kinds = [completeTrainingJob, completeModelDeployment, completeModelServer, completeMlopsModelDeployment]

/** Tries to create the manifest without keeping it; the refusal if there is one. */
async function refusal(resource: Resource<Manifest>, manifest: Manifest): Promise<ApiError | undefined> {
  return client.create(resource, manifest, { dryRun: true }).then(
    () => undefined,
    (error: unknown) => {
      assert.ok(error instanceof ApiError, String(error))
      return error
    },
  )
}

async function assertRefused(name: string, call: Promise<ApiError | undefined>, ...words: string[]): Promise<void> {
  const error = await call
  assert.ok(error, `accepted: ${name}`)
  assert.ok([400, 422].includes(error.code), `${name}: ${error.message}`)
  for (const word of words) assert.ok(error.message.includes(word), `${name}: "${word}" is not in: ${error.message}`)
}

const placed = (manifest: Manifest, into: string, spec: unknown = manifest.spec, name = 'complete'): Manifest => ({
  ...manifest,
  metadata: { name, namespace: into },
  spec: spec as Spec,
})

for (const complete of kinds) {
  const { apiVersion, kind } = complete.manifest
  test(`${apiVersion} ${kind}: every field at once is accepted, every field broken is refused by name`, async (t) => {
    const into = await namespace(t)
    assert.equal(await refusal(complete.resource, placed(complete.manifest, into)), undefined)
    const bad = flaws(complete)
    for (const { name, spec, field } of bad) {
      await assertRefused(name, refusal(complete.resource, placed(complete.manifest, into, spec)), field)
    }
    t.diagnostic(`${bad.length} bad manifests refused`)
  })
}

test('the server fills in the same defaults as we do', async (t) => {
  const into = await namespace(t)
  const minimal: readonly [Complete, Spec][] = [
    [completeTrainingJob, { model: 'm', dataset: 'd', checkpoint: { frequency: 3 }, env: [{ name: 'A' }] }],
    [completeModelDeployment, { modelName: 'm', framework: 'onnx', image: 'i', versions: weights(100) }],
    [completeModelServer, { image: 'i', probes: { readiness: {}, startup: {} } }],
    [completeMlopsModelDeployment, { modelURI: 'https://h/m', runtime: 'triton' }],
  ]
  for (const [{ resource, version, manifest }, spec] of minimal) {
    const created = await client.create(resource, placed(manifest, into, spec))
    assert.deepEqual(created.spec, withDefaults(version.spec, spec))
  }
})

/** Rules that no single field can break, and values that look harmless. The last word is one of the advice given. */
const byHand: readonly [Complete, Spec, ...string[]][] = [
  [
    completeTrainingJob,
    { model: undefined, image: undefined },
    'spec.model',
    'either image and command, or model and dataset',
  ],
  [completeTrainingJob, { dataset: undefined, command: undefined }, 'spec.model', 'add the missing one'],
  [completeTrainingJob, { model: undefined, command: undefined }, 'spec.model', 'model and dataset'],
  [completeTrainingJob, { dataset: undefined, image: undefined }, 'spec.model', 'image and command'],
  [completeTrainingJob, { elastic: { minWorkers: 5, maxWorkers: 4 } }, 'spec.elastic.minWorkers', 'raise maxWorkers'],
  [completeTrainingJob, { elastic: { minWorkers: 5, maxWorkers: 8 } }, 'spec.numWorkers', 'elastic.minWorkers'],
  [completeTrainingJob, { elastic: { minWorkers: 1, maxWorkers: 3 } }, 'spec.numWorkers', 'the bounds'],
  [completeTrainingJob, { checkpoint: { storage: { type: 's3' } } }, 'storage.path', 's3://bucket/prefix'],
  [completeTrainingJob, { checkpoint: { storage: { type: 's3', path: '/ckpt' } } }, 'storage.path', 's3://'],
  [completeTrainingJob, { checkpoint: { storage: { type: 's3', path: 'gs://b/p' } } }, 'storage.path', 's3://'],
  [completeTrainingJob, { checkpoint: { storage: { type: 's3', path: 's3://' } } }, 'storage.path', 's3://'],
  [completeTrainingJob, { checkpoint: { storage: { type: 'gcs', path: 's3://b/p' } } }, 'storage.path', 'gs://'],
  [completeTrainingJob, { checkpoint: { storage: { type: 'gcs' } } }, 'storage.path', 'gs://bucket/prefix'],
  [completeTrainingJob, { checkpoint: { storage: { type: 'pvc', path: 's3://b/p' } } }, 'storage.path', 'absolute'],
  [completeTrainingJob, { checkpoint: { storage: { path: 'ckpt' } } }, 'storage.path', '/checkpoints'],
  [completeTrainingJob, { checkpoint: { storage: { path: '/ckpt/../../etc' } } }, 'storage.path', '".."'],
  [completeTrainingJob, { checkpoint: { storage: { type: 's3', path: 's3://b/../c' } } }, 'storage.path', '".."'],
  [completeTrainingJob, { checkpoint: { storage: { size: '-1Gi' } } }, 'storage.size'],
  [completeTrainingJob, { checkpoint: { storage: { storageClass: '../fast' } } }, 'storageClass'],
  [completeTrainingJob, { hyperparameters: { learningRate: 'fast' } }, 'hyperparameters.learningRate'],
  [completeTrainingJob, { hyperparameters: { epochs: 'ten' } }, 'hyperparameters.epochs'],
  [completeTrainingJob, { hyperparameters: { epochs: 2.5 } }, 'hyperparameters.epochs'],
  [completeTrainingJob, { dataVolume: { claimName: '../other-namespace/data' } }, 'dataVolume.claimName'],
  [completeTrainingJob, { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] }, 'spec.env', 'gpusPerWorker'],
  [completeTrainingJob, { env: [{ name: 'A=B' }] }, 'spec.env'],
  [
    completeTrainingJob,
    { resources: { requests: { cpu: '3' }, limits: { cpu: '2' } } },
    'resources.requests',
    'raise the limit',
  ],
  [completeTrainingJob, { resources: { requests: { memory: '2Gi' }, limits: { memory: '2G' } } }, 'resources.requests'],
  [completeTrainingJob, { resources: { limits: { memory: '1Zi' } } }, 'resources.limits.memory'],
  [completeTrainingJob, { resources: { limits: { memory: '-1' } } }, 'resources.limits.memory'],
  [completeTrainingJob, { command: [] }, 'spec.command'],
  [completeTrainingJob, { command: ['python', 3] }, 'spec.command[1]'],
  [completeTrainingJob, { image: 'image with blanks' }, 'spec.image'],
  [completeTrainingJob, { backoffLimit: 1e12 }, 'spec.backoffLimit'],
  [completeTrainingJob, { networking: { backend: 'carrier-pigeon' } }, 'networking.backend'],
  [completeTrainingJob, { framework: 'pytorch' }, 'spec.roles', 'need framework tensorflow'],
  [completeTrainingJob, { roles: [{ name: 'launcher' }] }, 'spec.roles', 'launcher needs mpi'],
  [completeTrainingJob, { roles: [{ name: 'chief', replicas: 2 }] }, 'roles[0].replicas', 'only the role ps'],
  [completeTrainingJob, { engine: 'job' }, 'spec.engine', 'engine pods'],
  [completeTrainingJob, { engine: 'job', roles: undefined, framework: 'mpi' }, 'spec.engine', 'engine pods'],
  [completeTrainingJob, { volumes: [{ name: 'scratch' }] }, 'spec.volumes', 'exactly one source'],
  [
    completeTrainingJob,
    { volumes: [{ name: 'scratch', emptyDir: {}, configMap: { name: 'c' } }] },
    'spec.volumes',
    'exactly one source',
  ],
  [completeTrainingJob, { volumes: [{ name: 'dshm', emptyDir: {} }] }, 'volumes[0].name', 'choose another'],
  [
    completeTrainingJob,
    { volumeMounts: [{ name: 'nowhere', mountPath: '/x' }] },
    'spec.volumeMounts',
    'add the volume',
  ],
  [completeTrainingJob, { volumes: undefined }, 'spec.volumeMounts', 'add the volume'],
  [completeTrainingJob, { volumeMounts: [{ name: 'scratch', mountPath: '/a/../b' }] }, 'mountPath', '".."'],
  [completeTrainingJob, { volumeMounts: [{ name: 'scratch', mountPath: '/a', subPath: '../b' }] }, 'subPath', '".."'],
  [completeTrainingJob, { envFrom: [{ prefix: 'A' }] }, 'spec.envFrom', 'exactly one source'],

  [completeModelDeployment, { versions: weights(60, 30) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, { versions: weights(50, 51) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, { versions: weights(99) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, { versions: weights(0) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, { versions: weights(0, 0, 0) }, 'spec.versions', 'sum to 100'],
  [completeModelDeployment, { versions: weights(100, 1) }, 'spec.versions', 'sum to 100'],
  [
    completeModelDeployment,
    { versions: weights(...Array.from({ length: 16 }, () => 6)) },
    'spec.versions',
    'sum to 100',
  ],
  [completeModelDeployment, { versions: weights(-10, 110) }, 'versions[0].weight'],
  [completeModelDeployment, { versions: weights(...Array.from({ length: 17 }, () => 5)) }, 'spec.versions'],
  [completeModelDeployment, { versions: [...weights(50), ...weights(50)] }, 'spec.versions[1]', 'Duplicate'],
  [completeModelDeployment, { versions: [{ name: 'v1', weight: 100 }] }, 'modelPath'],
  ...[
    'model.pt',
    'http://user:pw@host/model',
    'https://host/a b',
    'pvc://',
    'file:///etc/passwd',
    's3:/b',
    's3://',
    'S3://b/m',
    'ftp://x/y',
  ].map((modelPath): [Complete, Spec, ...string[]] => [
    completeModelDeployment,
    { versions: [{ name: 'v1', weight: 100, modelPath }] },
    'versions[0].modelPath',
    's3://bucket/path',
  ]),
  ...['s3://b/../../etc', 's3://b/m/..', 'gs://../b', '/models/../etc', 'pvc://c/../d'].map(
    (modelPath): [Complete, Spec, ...string[]] => [
      completeModelDeployment,
      { versions: [{ name: 'v1', weight: 100, modelPath }] },
      'versions[0].modelPath',
      '".."',
    ],
  ),
  ...['../v1', 'V1', 'v1.0', 'v1/', '1', '-v', 'v-', 'v 1', 'v_1', 'ü'].map((name): [Complete, Spec, ...string[]] => [
    completeModelDeployment,
    { versions: [{ name, weight: 100, modelPath: 's3://b/m' }] },
    'versions[0].name',
  ]),
  ...['service', 'deployment', 'hpa', 'router', 'config', 'vs'].map((name): [Complete, Spec, ...string[]] => [
    completeModelDeployment,
    { versions: [{ name, weight: 100, modelPath: 's3://b/m' }] },
    'versions[0].name',
    'choose another name',
  ]),
  [
    completeModelDeployment,
    { scaling: { minReplicas: 5, maxReplicas: 4 } },
    'scaling.minReplicas',
    'raise maxReplicas',
  ],
  [completeModelDeployment, { scaling: { minReplicas: 11 } }, 'scaling.minReplicas', '10 if absent'],
  [completeModelDeployment, { scaling: { targetCPUUtilization: 101 } }, 'scaling.targetCPUUtilization'],
  ...['health', '//evil.example.com/x', 'http://169.254.169.254/', '/a?b', '/a#b', '/a b'].map(
    (endpoint): [Complete, Spec, ...string[]] => [
      completeModelDeployment,
      { healthCheck: { endpoint } },
      'healthCheck.endpoint',
    ],
  ),
  [completeModelDeployment, { healthCheck: { endpoint: '/a/../../b' } }, 'healthCheck.endpoint', '".."'],
  [completeModelDeployment, { framework: 'caffe' }, 'spec.framework'],
  [completeModelDeployment, { traffic: { provider: 'nginx' } }, 'traffic.provider'],
  [completeModelDeployment, { traffic: { hostnames: ['No Host'] } }, 'traffic.hostnames'],
  [completeModelDeployment, { traffic: { gateways: ['other/gateway'] } }, 'traffic.gateways'],
  [completeModelDeployment, { storage: { claimName: 'c', size: '1Gi' } }, 'storage.claimName', 'remove one of the two'],
  [completeModelDeployment, { storage: { storageClass: 'fast' } }, 'storage.storageClass', 'add size'],
  [completeModelDeployment, { env: [{ name: 'NVIDIA_VISIBLE_DEVICES' }] }, 'env[0].name', 'resources'],
  [completeModelDeployment, { validation: { script: '../v.py' } }, 'validation.script', '".."'],
  [completeModelDeployment, { runtime: 'Triton' }, 'spec.runtime'],

  [completeModelServer, { port: 0 }, 'spec.port'],
  [completeModelServer, { port: 65536 }, 'spec.port'],
  [completeModelServer, { model: { mountPath: 'models' } }, 'model.mountPath'],
  [completeModelServer, { model: { mountPath: '/models/../etc' } }, 'model.mountPath', '".."'],
  [completeModelServer, { probes: { readiness: { path: 'ready' } } }, 'probes.readiness.path'],
  [completeModelServer, { probes: { liveness: { path: '/a/../b' } } }, 'probes.liveness.path', '".."'],

  ...[
    'model.pt',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    'https://user:pw@host/m',
    'ftp://h/m',
    'https://h/a b',
  ].map((modelURI): [Complete, Spec, ...string[]] => [
    completeMlopsModelDeployment,
    { modelURI },
    'spec.modelURI',
    'https://',
  ]),
  [completeMlopsModelDeployment, { modelURI: 'https://h/a/../b' }, 'spec.modelURI', '".."'],
  [completeMlopsModelDeployment, { runtime: 'tritn' }, 'spec.runtime', 'triton'],
  ...['../validate.py', 'scripts/../../x.py'].map((validateScript): [Complete, Spec, ...string[]] => [
    completeMlopsModelDeployment,
    { validateScript },
    'spec.validateScript',
    '".."',
  ]),
  [completeMlopsModelDeployment, { validateScript: 'validate.py; rm -rf /' }, 'spec.validateScript'],
  [completeMlopsModelDeployment, { version: 'service' }, 'spec.version', 'choose another name'],
  [completeMlopsModelDeployment, { version: '1.0' }, 'spec.version'],
]

function weights(...shares: readonly number[]): unknown[] {
  return shares.map((weight, index) => ({ name: `v${index + 1}`, weight, modelPath: 's3://models/m' }))
}

test('broken rules and values that look harmless are refused by name, with advice', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change, ...words] of byHand) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    await assertRefused(JSON.stringify(change), refusal(resource, placed(manifest, into, spec)), ...words)
  }
  t.diagnostic(`${byHand.length} bad manifests refused`)
})

test('names that their children could not carry are refused', async (t) => {
  const into = await namespace(t)
  const names = ['../x', 'a/b', 'a.b', '1a', 'A', 'a_b', '-a', 'a-', `a${'b'.repeat(63)}`]
  for (const { resource, manifest } of kinds) {
    for (const name of names) {
      await assertRefused(name, refusal(resource, placed(manifest, into, manifest.spec, name)), 'metadata.name')
    }
  }
  const { resource, manifest } = completeModelDeployment
  const spec = { ...manifest.spec, versions: [{ name: 'v'.repeat(20), weight: 100, modelPath: 's3://b/m' }] }
  const long = placed(manifest, into, spec, 'm'.repeat(43))
  await assertRefused('name and version', refusal(resource, long), 'spec.versions', 'shorter than 63')
  assert.equal(await refusal(resource, placed(manifest, into, spec, 'm'.repeat(42))), undefined)
})

/** Changes of a complete object: allowed without words, refused with them. */
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

test('what may change may change, and what is immutable says so', async (t) => {
  for (const [{ resource, manifest }, initial, change, ...words] of changes) {
    const into = await namespace(t)
    await client.create(resource, placed(manifest, into, withoutNulls({ ...manifest.spec, ...initial })))
    const key = { namespace: into, name: 'complete' }
    const attempt = client.patch(resource, key, { spec: change }).then(
      () => undefined,
      (error: unknown) => error as ApiError,
    )
    const what = JSON.stringify([initial, change])
    if (words.length > 0) await assertRefused(what, attempt, ...words)
    else assert.equal((await attempt)?.message, undefined, what)
  }
})

const withoutNulls = (spec: Spec): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null))

test('scaling goes through the same rules', async (t) => {
  const into = await namespace(t)
  const { resource, manifest } = completeTrainingJob
  await client.create(resource, placed(manifest, into))
  const key = { namespace: into, name: 'complete' }
  await client.patch(trainingJobs, key, { spec: { replicas: 6 } }, { subresource: 'scale' })
  assert.equal((await client.get(trainingJobs, key)).spec.numWorkers, 6)
  await assert.rejects(
    client.patch(trainingJobs, key, { spec: { replicas: 60 } }, { subresource: 'scale' }),
    /numWorkers must lie between/,
  )
})

test('status takes what the operator writes and nothing else', async (t) => {
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

interface Counted extends KubeObject {
  readonly status?: { readonly used?: Readonly<Record<string, string>> }
}

test('the sixth training job is one too many for the quota, and the message says so', async (t) => {
  const into = await namespace(t)
  const [quota] = (await manifestsIn('test/acceptance'))
    .flatMap(({ objects }) => objects)
    .filter(({ kind }) => kind === 'ResourceQuota')
  assert.ok(quota)
  const quotas: Resource = {
    group: '',
    version: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    namespaced: true,
  }
  await client.create(quotas, { ...quota, metadata: { ...quota.metadata, namespace: into } })
  // The quota controller hears of a new kind half a minute later, and then counts only quotas that change.
  let attempt = 0
  await until(
    'the quota to be counted',
    async () => {
      const change = { spec: { hard: { 'count/secrets': String(1000 + attempt++) } } }
      await client.patch(quotas, { namespace: into, name: quota.metadata.name }, change)
      const { status } = (await client.get(quotas, { namespace: into, name: quota.metadata.name })) as Counted
      return status?.used?.['count/trainingjobs.ml.example.com'] === '0'
    },
    120_000,
  )
  const { resource, manifest } = completeTrainingJob
  const create = (index: number) => client.create(resource, placed(manifest, into, manifest.spec, `job-${index}`))
  for (const index of [1, 2, 3, 4, 5]) await create(index)
  await assert.rejects(create(6), (error: unknown) => {
    assert.ok(isForbidden(error))
    assert.match(
      error.message,
      /exceeded quota: trainingjob-quota, requested: count\/trainingjobs\.ml\.example\.com=1, used: count\/trainingjobs\.ml\.example\.com=5, limited: count\/trainingjobs\.ml\.example\.com=5/,
    )
    return true
  })
})

test('two managers apply one object and own their entries of a list', async (t) => {
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
