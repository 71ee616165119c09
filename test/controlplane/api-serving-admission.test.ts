/** Admission of what runs a model: runtime, image and framework, and what pods get beside them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownServerVolumes, serverVariables } from '../../src/api/pod-guards.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import {
  type Complete,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeModelServer,
} from '../builders/manifests.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec } from '../fixtures/admission.ts'

const client = await clientWithApi()

const secretKeyRef = { name: 's', key: 'k' }
const alone = { runtime: undefined, image: undefined }

/** One version with these fields, in a spec with the volume `shared`. */
const inVersion = (more: Spec): Spec => ({
  versions: [{ name: 'v1', weight: 100, modelPath: '/m', ...more }],
  volumes: [{ name: 'shared', emptyDir: {} }],
  volumeMounts: undefined,
  traffic: {},
})
const ownVolume = { name: 'own', emptyDir: {} }

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
  ...ownServerVolumes.map((name): [Complete, Spec, ...string[]] => [
    completeModelDeployment,
    inVersion({ volumes: [{ name, emptyDir: {} }] }),
    'versions[0].volumes[0].name',
    'choose another name',
  ]),
  [completeModelDeployment, inVersion({ volumes: [{ name: 'a' }] }), 'versions[0].volumes[0]', 'exactly one source'],
  [
    completeModelDeployment,
    inVersion({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }),
    'versions[0].volumes[0]',
    'exactly one source',
  ],
  ...['/tmp', '/etc', '/mnt/models/x', '/dev/shm'].map((mountPath): [Complete, Spec, ...string[]] => [
    completeModelDeployment,
    inVersion({ volumes: [ownVolume], volumeMounts: [{ name: 'own', mountPath }] }),
    'versions[0].volumeMounts[0].mountPath',
    'choose another path',
  ]),
  [
    completeModelDeployment,
    inVersion({ volumes: [ownVolume], volumeMounts: [{ name: 'other', mountPath: '/a' }] }),
    'spec.versions',
    'versions[].volumeMounts[].name must match the name of a volume of the version or of the spec',
  ],
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
  ...[
    'oci://',
    'oci://bert',
    'oci:/registry/bert',
    'oci://registry.example.com/Bert:v1',
    'oci://registry.example.com/bert@sha256:1',
    'oci://user:pw@registry.example.com/bert:v1',
    'oci://registry.example.com/bert:v1?path=models',
    'oci://registry.example.com/bert:v1#models',
  ].flatMap((uri): [Complete, Spec, ...string[]][] => [
    [
      completeModelDeployment,
      { versions: [{ name: 'v1', weight: 100, modelPath: uri }] },
      'versions[0].modelPath',
      'write for example',
    ],
    [completeMlopsModelDeployment, { modelURI: uri }, 'spec.modelURI', 'write for example'],
  ]),
  [
    completeModelDeployment,
    { versions: [{ name: 'v1', weight: 100, modelPath: 'oci://r.example.com/m:v1?path=/a/../b' }] },
    'versions[0].modelPath',
    '".."',
  ],
  [
    completeModelDeployment,
    {
      versions: [
        { name: 'v1', weight: 100, modelPath: 'oci://r.example.com/m:v1', checksum: `sha256:${'a'.repeat(64)}` },
      ],
    },
    'versions[0].checksum',
    'remove checksum',
    'digest',
  ],
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

const images = [
  'oci://registry.example.com/models/bert',
  'oci://localhost:5000/bert:v1.0_rc-1',
  `oci://registry.example.com/models/bert:v1@sha256:${'a'.repeat(64)}?path=/models/bert`,
]

/** Without rules of the traffic that name the other version. */
const sole = (modelPath: string): Spec => ({ versions: [{ name: 'v1', weight: 100, modelPath }], traffic: {} })

const accepted: readonly [Complete, Spec][] = [
  ...images.flatMap((uri): [Complete, Spec][] => [
    [completeModelDeployment, sole(uri)],
    [completeMlopsModelDeployment, { modelURI: uri }],
  ]),
  [completeModelDeployment, sole('az://models/bert')],
  [completeModelDeployment, { volumeMounts: [{ name: 'scratch', mountPath: '/tmp/cache' }] }],
  [completeModelDeployment, inVersion({ volumes: [ownVolume], volumeMounts: [{ name: 'own', mountPath: '/own' }] })],
  [completeModelDeployment, inVersion({ volumeMounts: [{ name: 'shared', mountPath: '/shared' }] })],
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
