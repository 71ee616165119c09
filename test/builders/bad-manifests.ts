/**
 * Mistakes that users make, of every kind. The API server rejects each with the field and the fix. What it cannot know, the
 * operator reports in the status: see `test/controlplane/bad-manifests.test.ts`.
 *
 * To add a mistake, add it to the list of its kind. A new field with rules of its own, such as a pod template, or a new scheme
 * of a URI gets a list of its own, which `badManifests` includes.
 */
import { badRollouts } from './bad-rollouts.ts'
import {
  type Complete,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeModelServer,
  completeTrainingJob,
} from './manifests.ts'

export type Change = Readonly<Record<string, unknown>>

export interface BadManifest {
  readonly what: string
  /** The valid manifest that is changed. */
  readonly complete: Complete
  /** Fields of the spec to replace; undefined removes one. */
  readonly change: Change
  /** Path of the field, as in the rejection. */
  readonly field: string
  /** Words of the rejection that tell what to write instead. */
  readonly fix: string
}

export type Row = readonly [what: string, change: Change, field: string, fix: string]

const listOf = (complete: Complete, rows: readonly Row[]): BadManifest[] =>
  rows.map(([what, change, field, fix]) => ({ what, complete, change, field, fix }))

const scratch = [{ name: 'scratch', emptyDir: {} }]
const mountedAt = (mountPath: string, name = 'scratch'): Change => ({ volumeMounts: [{ name, mountPath }] })
const checkpointOn = (storage: object): Change => ({ checkpoint: { storage } })
const toleration = (one: object): Change => ({ scheduling: { tolerations: [one] } })

const training = listOf(completeTrainingJob, [
  ['an image without a command', { command: undefined, model: undefined }, 'spec.model', 'image and command'],
  ['an image with a blank', { image: 'registry/ image:1' }, 'spec.image', 'registry/name:tag'],
  ['a number as an argument', { args: ['--epochs', 10] }, 'spec.args[1]', 'must be of type string'],
  ['arguments as one text', { args: '--epochs=10' }, 'spec.args', 'must be of type array'],
  ['an unknown framework', { framework: 'caffe', roles: undefined }, 'spec.framework', '"pytorch"'],
  [
    'an access mode for one pod',
    checkpointOn({ accessModes: ['ReadWriteOncePod'] }),
    'accessModes[0]',
    '"ReadWriteMany"',
  ],
  [
    'an access mode twice',
    checkpointOn({ accessModes: ['ReadWriteOnce', 'ReadWriteOnce'] }),
    'storage.accessModes',
    'remove one of the two',
  ],
  ['no access mode', checkpointOn({ accessModes: [] }), 'storage.accessModes', 'at least 1 items'],
  [
    'an access mode for a bucket',
    checkpointOn({ type: 's3', path: 's3://b/p', accessModes: ['ReadWriteMany'] }),
    'storage.accessModes',
    'change storage.type',
  ],
  [
    'a claim of one pod for a bucket',
    checkpointOn({ type: 's3', path: 's3://b/p', claimName: 'c' }),
    'storage.claimName',
    'remove claimName',
  ],
  [
    'a claim with a class',
    checkpointOn({ claimName: 'c', storageClass: 'fast' }),
    'storage.claimName',
    'remove claimName',
  ],
  [
    'resuming from a path',
    { checkpoint: { resumeFrom: '/checkpoints' } },
    'checkpoint.resumeFrom',
    's3://bucket/prefix',
  ],
  [
    'resuming without checkpoints',
    { checkpoint: { enabled: false, resumeFrom: 'a' } },
    'checkpoint.resumeFrom',
    'remove resumeFrom',
  ],
  [
    'deleting a claim of others',
    { checkpoint: { deleteOnCompletion: true, storage: { claimName: 'c' } } },
    'checkpoint.deleteOnCompletion',
    'remove one of the two',
  ],
  ['a bucket as a path', checkpointOn({ path: 's3://b/p' }), 'storage.path', 'change storage.type'],
  ['a variable twice', { env: [{ name: 'A' }, { name: 'A' }] }, 'spec.env[1]', 'Duplicate value'],
  ['a volume twice', { volumes: [...scratch, ...scratch] }, 'spec.volumes[1]', 'Duplicate value'],
  ['a mount without a volume', mountedAt('/x', 'nowhere'), 'spec.volumeMounts', 'add the volume'],
  ['a mount at the checkpoints', mountedAt('/ckpt'), 'spec.volumeMounts', 'choose another path'],
  ['a mount at the data', mountedAt('/data'), 'spec.volumeMounts', 'remove dataVolume'],
  [
    'a mount that leaves its volume',
    { volumeMounts: [{ name: 'scratch', mountPath: '/a', subPath: '../b' }] },
    'subPath',
    'resolved path',
  ],
  ['a volume of the host', { volumes: [{ name: 'scratch', hostPath: { path: '/' } }] }, 'spec.volumes', 'emptyDir'],
  ['a source of variables without a source', { envFrom: [{}] }, 'spec.envFrom[0]', 'configMapRef or secretRef'],
  [
    'a prefix that makes a variable of the GPU runtime',
    { envFrom: [{ prefix: 'NVIDIA_', secretRef: { name: 's' } }] },
    'envFrom[0].prefix',
    'choose another prefix',
  ],
  ['GPUs without a domain', { resources: { limits: { gpu: 1 } } }, 'resources.limits', 'nvidia.com/gpu'],
  [
    'a request above its limit',
    { resources: { requests: { cpu: 4 }, limits: { cpu: 2 } } },
    'resources.requests',
    'raise the limit',
  ],
  [
    'bounds of workers crossed',
    { elastic: { minWorkers: 9, maxWorkers: 8 } },
    'elastic.minWorkers',
    'raise maxWorkers',
  ],
  ['a role of another framework', { framework: 'jax' }, 'spec.roles', 'need framework tensorflow'],
  [
    'exit code 0 as a failure',
    { failurePolicy: { rules: [{ action: 'Fail', onExitCodes: { values: [0] } }] } },
    'values[0]',
    'greater than or equal to 1',
  ],
  [
    'a toleration of any value with a value',
    toleration({ key: 'a', operator: 'Exists', value: 'b' }),
    'tolerations[0]',
    'remove value',
  ],
  ['a toleration of a value without a key', toleration({ value: 'b' }), 'tolerations[0]', 'set key'],
  [
    'a toleration that ends without an effect',
    toleration({ key: 'a', operator: 'Exists', tolerationSeconds: 5 }),
    'tolerations[0]',
    'NoExecute',
  ],
])

const oneVersion = (version: object): Change => ({ versions: [{ name: 'v1', weight: 100, ...version }] })
const at = (modelPath: string): Change => oneVersion({ modelPath })
const stored = (storage: object): Change => ({ storage })
const gateways = (...names: string[]): Change => ({ traffic: { gateways: names } })
const PATH = 'versions[0].modelPath'
const key = { name: 's', key: 'k' }

const serving = listOf(completeModelDeployment, [
  [
    'a framework without a runtime',
    { framework: 'caffe', runtime: undefined, image: undefined },
    'spec.framework',
    'spec.runtime or spec.image',
  ],
  ['a runtime in upper case', { runtime: 'Triton' }, 'spec.runtime', 'in lower case'],
  ['a Gateway of three parts', gateways('a/b/c'), 'traffic.gateways[0]', 'namespace/name'],
  ['a Gateway in upper case', gateways('Public'), 'traffic.gateways[0]', 'in lower case'],
  ['a Gateway without a name', gateways(''), 'traffic.gateways[0]', 'infrastructure/public'],
  ['a Gateway without a namespace before the slash', gateways('/public'), 'traffic.gateways[0]', 'name of a Gateway'],
  ['every sidecar as a Gateway', gateways('mesh'), 'traffic.gateways[0]', 'name of a Gateway'],
  ['hostnames without a Gateway', { traffic: { hostnames: ['a.example.com'] } }, 'spec.traffic', 'set gateways'],
  ...badRollouts,
  ['a bucket with a port', at('s3://minio:9000/models'), PATH, 'storage.secretName'],
  ['a bucket with a query', at('gs://models?x=1'), PATH, 's3://bucket/path'],
  ['a container with a user', at('az://me@models/m'), PATH, 'without credentials'],
  ['a bucket without a name', at('gs:///models'), PATH, 's3://bucket/path'],
  ['a model of the Hub without an owner', at('hf://bert'), PATH, 'hf://owner/model'],
  ['a model of the Hub with a path', at('hf://owner/model/tree/main'), PATH, 'hf://owner/model:revision'],
  ['a claim in upper case', at('pvc://Models/v1'), PATH, 'pvc://claim/path'],
  ['a claim of another namespace', at('pvc://team_b/models'), PATH, 'of this namespace'],
  ['a path that leaves the bucket', at('s3://models/../secrets'), PATH, 'resolved path'],
  [
    'a checksum without its algorithm',
    oneVersion({ modelPath: 's3://b/m', checksum: 'abc' }),
    'versions[0].checksum',
    'sha256sum',
  ],
  ['a name that leaves the directory', { modelName: '../other' }, 'spec.modelName', 'resolved path'],
  ['a claim and a size', stored({ claimName: 'c', size: '1Gi' }), 'storage.claimName', 'remove one of the two'],
  ['a class without a size', stored({ storageClass: 'fast' }), 'storage.storageClass', 'add size'],
  [
    'an unknown access mode',
    stored({ size: '1Gi', accessMode: 'ReadOnlyMany' }),
    'storage.accessMode',
    '"ReadWriteOnce"',
  ],
  [
    'a key with a directory',
    stored({ credentialsFile: { secretName: 's', key: 'a/b' } }),
    'credentialsFile.key',
    'without a directory',
  ],
  [
    'a file in another variable',
    stored({ credentialsFile: { secretName: 's', variable: 'HOME' } }),
    'credentialsFile.variable',
    'AWS_SHARED_CREDENTIALS_FILE',
  ],
  [
    'certificates in a directory',
    stored({ caBundle: { configMapName: 'c', key: '../ca' } }),
    'caBundle.key',
    'without a directory',
  ],
  [
    'a value from two sources',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: key, configMapKeyRef: key } }] },
    'env[0].valueFrom',
    'set one of',
  ],
  ['a value from no source', { env: [{ name: 'A', valueFrom: {} }] }, 'env[0].valueFrom', 'exactly one source'],
  [
    'a value and its source',
    { env: [{ name: 'A', value: 'x', valueFrom: { secretKeyRef: key } }] },
    'spec.env[0]',
    'remove one of the two',
  ],
  ['a variable of the operator', { env: [{ name: 'MODEL_PATH', value: '/x' }] }, 'env[0].name', 'choose another name'],
  [
    'bounds of pods crossed',
    { scaling: { minReplicas: 5, maxReplicas: 2 } },
    'scaling.minReplicas',
    'raise maxReplicas',
  ],
  [
    'bounds of a version crossed',
    oneVersion({ modelPath: 's3://b/m', scaling: { minReplicas: 5, maxReplicas: 2 } }),
    'versions[0].scaling.minReplicas',
    'raise maxReplicas',
  ],
  [
    'a health check that leaves the server',
    { healthCheck: { endpoint: '/a/../b' } },
    'healthCheck.endpoint',
    'resolved path',
  ],
  ['a mount over the model', mountedAt('/mnt/models'), 'mountPath', 'choose another path'],
  ['a validation in another directory', { validation: { script: '../v.py' } }, 'validation.script', 'resolved path'],
  [
    'weights below 100',
    { versions: [{ name: 'v1', weight: 90, modelPath: 's3://b/m' }] },
    'spec.versions',
    'sum to 100',
  ],
])

const servers = listOf(completeModelServer, [
  ['a mount over the model', mountedAt('/models/x'), 'spec.volumeMounts', 'choose another path'],
  [
    'a probe that leaves the server',
    { probes: { readiness: { path: '/a/../b' } } },
    'probes.readiness.path',
    'resolved path',
  ],
  ['a number as an argument', { args: [1] }, 'spec.args[0]', 'must be of type string'],
])

const mlops = listOf(completeMlopsModelDeployment, [
  ['a bucket with a port', { modelURI: 's3://minio:9000/m' }, 'spec.modelURI', 's3://bucket/path'],
  ['an unknown runtime', { runtime: 'tgi' }, 'spec.runtime', '"triton"'],
])

export const badManifests: readonly BadManifest[] = [...training, ...serving, ...servers, ...mlops]
