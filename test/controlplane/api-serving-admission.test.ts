/** Admission of what runs a model: runtime, image and framework, and what pods get beside them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverVariables } from '../../src/api/environment.ts'
import { ownServerVolumes } from '../../src/api/server-pod.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { type Complete, completeModelDeployment, completeModelServer } from '../builders/manifests.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec } from '../fixtures/admission.ts'

const client = await clientWithApi()

const secretKeyRef = { name: 's', key: 'k' }
const alone = { runtime: undefined, image: undefined }

/** The change, and words of the rejection: the field and the fix. */
const rejected: readonly [Complete, Spec, ...string[]][] = [
  [
    completeModelDeployment,
    { ...alone, framework: 'caffe' },
    'spec.framework',
    'spec.runtime or spec.image is required',
  ],
  [
    completeModelDeployment,
    { ...alone, framework: 'pytorch' },
    'spec.framework',
    'set spec.runtime to fastapi-pytorch',
  ],
  ...[completeModelDeployment, completeModelServer].flatMap((kind): [Complete, Spec, ...string[]][] => [
    ...serverVariables.map((name): [Complete, Spec, ...string[]] => [
      kind,
      { env: [{ name, value: 'x' }] },
      'env[0].name',
      'choose another name',
    ]),
    [kind, { env: [{ name: 'A', value: 'x', valueFrom: { secretKeyRef } }] }, 'spec.env[0]', 'remove one of the two'],
    [kind, { env: [{ name: 'A', valueFrom: {} }] }, 'env[0].valueFrom', 'exactly one source'],
    [
      kind,
      { env: [{ name: 'A', valueFrom: { secretKeyRef, configMapKeyRef: secretKeyRef } }] },
      'env[0].valueFrom',
      'exactly one source',
    ],
    [kind, { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.hostname' } } }] }, 'fieldRef.fieldPath'],
    [kind, { env: [{ name: 'NVIDIA_VISIBLE_DEVICES' }] }, 'env[0].name', 'resources'],
    [kind, { envFrom: [{ prefix: 'A' }] }, 'spec.envFrom', 'exactly one source'],
    ...ownServerVolumes.map((name): [Complete, Spec, ...string[]] => [
      kind,
      { volumes: [{ name, emptyDir: {} }], volumeMounts: undefined },
      'volumes[0].name',
      'choose another name',
    ]),
    [kind, { volumes: [{ name: 'scratch', hostPath: { path: '/' } }] }, 'spec.volumes', 'exactly one source'],
    [kind, { volumes: undefined }, 'spec.volumeMounts', 'add the volume'],
    ...['/tmp', '/tmp/', '//tmp', '/dev', '/dev/shm', '/etc', '/etc/model-server', '/etc/model-server/x', '/mnt'].map(
      (mountPath): [Complete, Spec, ...string[]] => [
        kind,
        { volumeMounts: [{ name: 'scratch', mountPath }] },
        'mountPath',
        'choose another path',
      ],
    ),
    [kind, { volumeMounts: [{ name: 'scratch', mountPath: '/mnt/models/x' }] }, 'mountPath', 'choose another path'],
  ]),
  [completeModelDeployment, { storage: { credentialsFile: { key: 'a' } } }, 'credentialsFile.secretName'],
  [completeModelDeployment, { storage: { credentialsFile: { secretName: 's', variable: 'PATH' } } }, 'variable'],
  [completeModelDeployment, { storage: { caBundle: { configMapName: 'c', key: '../ca' } } }, 'caBundle.key'],
  ...['az://', 'az:/c/m', 'AZ://c/m', 'az://user:key@c/m', 'azure://c/m'].map(
    (modelPath): [Complete, Spec, ...string[]] => [
      completeModelDeployment,
      { versions: [{ name: 'v1', weight: 100, modelPath }] },
      'versions[0].modelPath',
      'az',
    ],
  ),
  ...['/models', '/models/x'].map((mountPath): [Complete, Spec, ...string[]] => [
    completeModelServer,
    { volumeMounts: [{ name: 'scratch', mountPath }] },
    'spec.volumeMounts',
    'where the operator mounts the model',
  ]),
]

test('rejects what cannot run, by name and with advice', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change, ...words] of rejected) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    await assertRejected(JSON.stringify(change), rejectionBy(client, resource, placed(manifest, into, spec)), ...words)
  }
  t.diagnostic(`${rejected.length} invalid manifests rejected`)
})

const accepted: readonly [Complete, Spec][] = [
  [completeModelDeployment, { versions: [{ name: 'v1', weight: 100, modelPath: 'az://models/bert' }] }],
  [completeModelDeployment, { volumeMounts: [{ name: 'scratch', mountPath: '/tmp/cache' }] }],
  [completeModelDeployment, { volumeMounts: [{ name: 'scratch', mountPath: '/etc/ssl/own' }] }],
  [completeModelDeployment, { ...alone, framework: 'onnx' }],
  [completeModelDeployment, { framework: 'pytorch', runtime: undefined }],
  [completeModelDeployment, { framework: 'pytorch', image: undefined }],
  [completeModelDeployment, { framework: 'caffe', runtime: undefined }],
  [completeModelDeployment, { framework: 'llama', runtime: 'vllm', image: undefined }],
]

test('accepts every combination that can run', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change] of accepted) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    assert.equal(await rejectionBy(client, resource, placed(manifest, into, spec)), undefined, JSON.stringify(change))
  }
})
