/** Manifests for tests: for each version of each kind one that sets every field, and everything that is wrong with it. */

import { type Kind, type KindVersion, resourceOf } from '../src/api/kind.ts'
import { mlopsModelDeploymentKind, modelDeploymentKind, modelServerKind, trainingJobKind } from '../src/api/kinds.ts'
import { type JsonSchema, plain } from '../src/api/structural.ts'
import type { KubeObject, Resource } from '../src/kube/object.ts'

export interface Manifest extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
}

export interface Complete {
  readonly version: KindVersion
  readonly resource: Resource<Manifest>
  readonly manifest: Manifest
}

function complete(kind: Kind, versionName: string, spec: Readonly<Record<string, unknown>>): Complete {
  const version = kind.versions.find(({ name }) => name === versionName)
  if (version === undefined) throw new Error(`${kind.kind} has no version ${versionName}`)
  const apiVersion = `${kind.group}/${versionName}`
  const manifest = { apiVersion, kind: kind.kind, metadata: { name: 'complete' }, spec }
  return { version, resource: resourceOf<Manifest>(kind, versionName), manifest }
}

const resources = {
  requests: { cpu: '500m', memory: '1Gi', 'nvidia.com/gpu': 1 },
  limits: { cpu: 2, memory: '1.5Gi', 'nvidia.com/gpu': '1' },
}
const hyperparameters = { learningRate: 0.001, batchSize: 32, epochs: '10', optimizer: 'adam', betas: [0.9, 0.999] }
const probe = { path: '/ready', periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 4, command: ['check'] }
const servingScaling = {
  minReplicas: 2,
  maxReplicas: 4,
  targetCPUUtilization: 60,
  targetMemoryUtilization: 80,
  targetRequestsPerSecond: 50,
  targetQueueDepth: 4,
  targetGPUUtilization: 70,
}

const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }]
const podAffinityTerm = { labelSelector: { matchLabels: { app: 'cache' }, matchExpressions }, topologyKey: 'zone' }
const podAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }],
}
const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions } }],
  },
  podAffinity,
  podAntiAffinity: podAffinity,
}

export const completeTrainingJob = complete(trainingJobKind, 'v1', {
  model: 'resnet50',
  dataset: 'imagenet',
  framework: 'tensorflow',
  image: 'registry/image:tag',
  command: ['python', 'train.py'],
  args: ['--fast'],
  env: [{ name: 'OMP_NUM_THREADS', value: '4' }],
  envFrom: [{ prefix: 'S3_', secretRef: { name: 's3', optional: true } }],
  engine: 'pods',
  numWorkers: 4,
  gpusPerWorker: 2,
  procsPerWorker: 2,
  roles: [
    { name: 'ps', replicas: 2, gpus: 0, image: 'registry/ps:tag', command: ['serve'], args: ['--all'], resources },
    { name: 'chief' },
  ],
  elastic: { minWorkers: 2, maxWorkers: 8 },
  suspend: false,
  hyperparameters,
  checkpoint: {
    enabled: true,
    frequency: 2,
    deleteOnCompletion: false,
    storage: { type: 'pvc', path: '/ckpt', size: '50Gi', storageClass: 'standard' },
  },
  dataVolume: { claimName: 'data', readOnly: true },
  networking: { masterPort: 29501, backend: 'nccl' },
  resources,
  restartPolicy: 'Never',
  backoffLimit: 5,
  failurePolicy: { rules: [{ action: 'Fail', onExitCodes: { operator: 'In', values: [3, 42] } }] },
  activeDeadlineSeconds: 86_400,
  ttlSecondsAfterFinished: 3600,
  cleanPodPolicy: 'All',
  scheduling: {
    schedulerName: 'default-scheduler',
    priorityClassName: 'high',
    nodeSelector: { pool: 'a100' },
    tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }],
    affinity,
    topologyKey: 'topology.kubernetes.io/zone',
  },
  serviceAccountName: 'trainer',
  imagePullSecrets: [{ name: 'registry' }],
  volumes: [
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'login', secret: { secretName: 'login' } },
    { name: 'datasets', persistentVolumeClaim: { claimName: 'datasets', readOnly: true } },
  ],
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch', subPath: 'team-a', readOnly: false }],
})

export const completeAlphaTrainingJob = complete(trainingJobKind, 'v1alpha1', {
  framework: 'xgboost',
  image: 'registry/image:tag',
  command: ['python', 'train.py'],
  args: ['--fast'],
  workers: 4,
  gpuPerWorker: 1,
  resources,
  dataVolume: { claimName: 'data', readOnly: true },
  checkpointDir: '/checkpoints/mnist',
  checkpointInterval: 2,
  hyperparameters,
  restartPolicy: 'Never',
})

export const completeModelDeployment = complete(modelDeploymentKind, 'v1', {
  modelName: 'sentiment',
  framework: 'onnx',
  runtime: 'triton',
  image: 'registry/image:tag',
  versions: [
    {
      name: 'v1',
      weight: 90,
      modelPath: 's3://models/v1',
      image: 'registry/image:v1',
      resources,
      scaling: servingScaling,
      env: [{ name: 'OMP_NUM_THREADS', value: '2' }],
    },
    { name: 'v2', weight: 10, modelPath: 'pvc://models/v2' },
  ],
  resources,
  env: [{ name: 'OMP_NUM_THREADS', value: '4' }],
  scaling: servingScaling,
  healthCheck: { endpoint: '/ready', intervalSeconds: 10, timeoutSeconds: 2, failureThreshold: 5 },
  traffic: { provider: 'gateway', gateways: ['public'], hostnames: ['*.example.com'], drainSeconds: 10 },
  validation: { script: 'validate.py', image: 'registry/validator:tag', timeoutSeconds: 60 },
  storage: { secretName: 's3', size: '10Gi', storageClass: 'shared', accessMode: 'ReadWriteOnce' },
  scheduling: {
    priorityClassName: 'high',
    nodeSelector: { pool: 'a100' },
    tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }],
    affinity,
  },
  serviceAccountName: 'model-reader',
  imagePullSecrets: [{ name: 'registry' }],
})

export const completeModelServer = complete(modelServerKind, 'v1', {
  image: 'registry/image:tag',
  port: 9000,
  command: ['serve'],
  args: ['--model=$(MODEL_PATH)'],
  env: [{ name: 'WORKERS', value: '2' }],
  files: [{ name: 'server.conf', content: 'model=$(MODEL_NAME)' }],
  probes: { startup: probe, readiness: probe, liveness: probe },
  model: { mountPath: '/models', layout: 'repository', readOnly: true },
})

export const completeMlopsModelDeployment = complete(mlopsModelDeploymentKind, 'v1', {
  modelURI: 'https://example.com/model.pt',
  runtime: 'triton',
  runtimeImage: 'registry/image:tag',
  resources,
  validateScript: 'validate.py',
  autoscale: true,
  version: 'v2',
})

/** What it takes to be refused: a change of the spec, and the field that the refusal has to name. */
export interface Flaw {
  readonly name: string
  readonly spec: unknown
  readonly field: string
}

/** Every way to break one limit of the schema, at every field of the manifest. */
export function flaws({ version, manifest }: Complete): Flaw[] {
  return flawsAt('spec', plain(version.spec), manifest.spec, (spec) => spec)
}

type Put = (value: unknown) => unknown

function flawsAt(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  const field = lastName(path)
  const own = broken(schema, value).map(([what, wrong]) => ({ name: `${path}: ${what}`, spec: put(wrong), field }))
  return [...own, ...missing(path, schema, value, put), ...below(path, schema, value, put)]
}

/** Nothing, where the manifest leaves something out: of several sources there may be but one. */
function below(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  if (value === undefined) return []
  if (Array.isArray(value)) {
    const [first, ...others] = value
    return schema.items ? flawsAt(`${path}[0]`, schema.items, first, (entry) => put([entry, ...others])) : []
  }
  const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const inside = (value as Record<string, unknown>)[name]
    return flawsAt(`${path}.${name}`, child, inside, (part) => put({ ...(value as object), [name]: part }))
  })
  if (!schema.additionalProperties) return children
  const [key = 'key', entry] = Object.entries(value as object)[0] ?? []
  return flawsAt(`${path}.${key}`, schema.additionalProperties, entry, (part) =>
    put({ ...(value as object), [key]: part }),
  )
}

function missing(path: string, schema: JsonSchema, value: unknown, put: Put): Flaw[] {
  if (value === undefined) return []
  return (schema.required ?? []).map((name) => {
    const { [name]: _gone, ...rest } = value as Record<string, unknown>
    return { name: `${path}.${name}: missing`, spec: put(rest), field: name }
  })
}

const NASTY = ['', ' ', '../../etc/passwd', 'No Spaces Here', '-', '\u0000', 'é/..']

/** Values that break one limit each; a limit that the schema does not have gives undefined. */
const BREAKS: Readonly<Record<string, (schema: JsonSchema, value: unknown) => unknown>> = {
  'wrong type': (schema) => (schema['x-kubernetes-int-or-string'] ? { no: 'scalar' } : WRONG_TYPE[schema.type ?? '']),
  'not in the list': ({ enum: values }) => values && 'nonsense',
  'too small': ({ minimum }) => (minimum === undefined ? undefined : minimum - 1),
  'too large': ({ maximum }) => (maximum === undefined ? undefined : maximum + 1),
  'not whole': ({ type }) => (type === 'integer' ? 1.5 : undefined),
  empty: ({ minLength = 0 }) => (minLength > 0 ? '' : undefined),
  'too long': ({ maxLength }) => (maxLength === undefined ? undefined : 'a'.repeat(maxLength + 1)),
  'does not match': ({ pattern = '' }) => NASTY.find((text) => !new RegExp(pattern).test(text)),
  'no entries': ({ minItems = 0 }) => (minItems > 0 ? [] : undefined),
  'too many entries': ({ maxItems }, value) => (maxItems === undefined ? undefined : repeated(value, maxItems + 1)),
  'entry twice': (schema, value) => schema['x-kubernetes-list-map-keys'] && repeated(value, 2),
}

function broken(schema: JsonSchema, value: unknown): [string, unknown][] {
  const all = Object.entries(BREAKS).map(([what, breaks]): [string, unknown] => [what, breaks(schema, value)])
  return all.filter(([, wrong]) => wrong !== undefined)
}

const WRONG_TYPE: Readonly<Record<string, unknown>> = {
  string: 12345,
  integer: 'many',
  number: 'many',
  boolean: 'maybe',
  object: 'text',
  array: 'text',
}

const repeated = (list: unknown, times: number): unknown[] =>
  Array.from({ length: times }, (): unknown => (Array.isArray(list) ? list[0] : undefined))

const lastName = (path: string): string => path.split('.').at(-1)?.replace('[0]', '') ?? path
