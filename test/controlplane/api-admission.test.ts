/** Admission by the CRDs alone: what the API server accepts and rejects without a webhook. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDefaults } from '../../src/api/defaults.ts'
import type { Resource } from '../../src/kube/object.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { flaws } from '../builders/flaws.ts'
import {
  type Complete,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeModelServer,
  completeTrainingJob,
  completeTrainingSchedule,
  type Manifest,
} from '../builders/manifests.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec, weights } from '../fixtures/admission.ts'

const client = await clientWithApi()

const rejection = (resource: Resource<Manifest>, manifest: Manifest) => rejectionBy(client, resource, manifest)

const kinds = [
  completeTrainingJob,
  completeTrainingSchedule,
  completeModelDeployment,
  completeModelServer,
  completeMlopsModelDeployment,
]

for (const complete of kinds) {
  const { apiVersion, kind } = complete.manifest
  test(`${apiVersion} ${kind}: accepts every field at once, and rejects every invalid field by name`, async (t) => {
    const into = await namespace(t)
    assert.equal(await rejection(complete.resource, placed(complete.manifest, into)), undefined)
    const bad = flaws(complete)
    for (const { name, spec, field } of bad) {
      await assertRejected(name, rejection(complete.resource, placed(complete.manifest, into, spec)), field)
    }
    t.diagnostic(`${bad.length} invalid manifests rejected`)
  })
}

test('the server sets the same defaults as withDefaults', async (t) => {
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

/** Rules over several fields, and malicious values. The last word is part of the advice in the message. */
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
  [
    completeTrainingJob,
    { checkpoint: { storage: { type: 's3', path: 's3://b/p', accessModes: ['ReadWriteOnce'] } } },
    'storage.accessModes',
    'remove it',
  ],
  [
    completeTrainingJob,
    { checkpoint: { storage: { accessModes: ['ReadOnlyMany'] } } },
    'storage.accessModes',
    'ReadWriteOnce',
  ],
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
  [completeTrainingJob, { scheduling: { gang: 'native', queueName: 'q' } }, 'scheduling.queueName', 'kueue or auto'],

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
  [completeModelDeployment, { scaling: { minReplicas: 11 } }, 'scaling.minReplicas', 'default 10'],
  [completeModelDeployment, { scaling: { targetCPUUtilization: 101 } }, 'scaling.targetCPUUtilization'],
  ...['health', '//evil.example.com/x', 'http://169.254.169.254/', '/a?b', '/a#b', '/a b'].map(
    (endpoint): [Complete, Spec, ...string[]] => [
      completeModelDeployment,
      { healthCheck: { endpoint } },
      'healthCheck.endpoint',
    ],
  ),
  [completeModelDeployment, { healthCheck: { endpoint: '/a/../../b' } }, 'healthCheck.endpoint', '".."'],
  [completeModelDeployment, { framework: 'no words' }, 'spec.framework'],
  [completeModelDeployment, { traffic: { provider: 'nginx' } }, 'traffic.provider'],
  [completeModelDeployment, { traffic: { hostnames: ['No Host'] } }, 'traffic.hostnames'],
  [completeModelDeployment, { traffic: { gateways: ['a/b/gateway'] } }, 'traffic.gateways'],
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

/** The API server would compute every digit of such an exponent. */
const huge = { memory: '1e2147483648' }

test('rejects quantities with an exponent that the API server cannot compute with', async (t) => {
  const into = await namespace(t)
  for (const { resource, manifest } of [completeTrainingJob, completeModelDeployment, completeMlopsModelDeployment]) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, resources: { requests: huge, limits: huge } }))
    await assertRejected('an exponent of ten digits', rejection(resource, placed(manifest, into, spec)), 'memory')
  }
})

test('rejects violated rules and malicious values by name, with advice', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change, ...words] of byHand) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    await assertRejected(JSON.stringify(change), rejection(resource, placed(manifest, into, spec)), ...words)
  }
  t.diagnostic(`${byHand.length} invalid manifests rejected`)
})

test('rejects names that are invalid for the children', async (t) => {
  const into = await namespace(t)
  const names = ['../x', 'a/b', 'a.b', '1a', 'A', 'a_b', '-a', 'a-', `a${'b'.repeat(63)}`]
  for (const { resource, manifest } of kinds) {
    for (const name of names) {
      await assertRejected(name, rejection(resource, placed(manifest, into, manifest.spec, name)), 'metadata.name')
    }
  }
  const { resource, manifest } = completeModelDeployment
  const versions = [{ name: 'v'.repeat(20), weight: 100, modelPath: 's3://b/m' }]
  const spec = { ...manifest.spec, versions, traffic: {} }
  const long = placed(manifest, into, spec, 'm'.repeat(43))
  await assertRejected('name and version', rejection(resource, long), 'spec.versions', 'shorter than 63')
  assert.equal(await rejection(resource, placed(manifest, into, spec, 'm'.repeat(42))), undefined)
})
