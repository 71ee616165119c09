/**
 * Adjusts generated specs to the CEL rules over several fields, most of the time: a spec that admission rejects never reaches
 * the operator.
 */
import { ownServerVolumes, ownVolumes, serverVariables } from '../../src/api/pod-guards.ts'
import { between, pick, type Random } from '../random/seeded.ts'

type Spec = Record<string, unknown>
type Adjust = (spec: Spec, random: Random) => Spec

const isSpec = (value: unknown): value is Spec => typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): Spec[] => (Array.isArray(value) ? value.filter(isSpec) : [])

/** Changes `field` of `spec`, if it exists. */
function within(spec: Spec, field: string, change: (value: Spec) => Spec | undefined): Spec {
  const { [field]: value, ...others } = spec
  if (!isSpec(value)) return spec
  const changed = change(value)
  return changed === undefined ? others : { ...others, [field]: changed }
}

/** A request above its limit is rejected, so only the limit is kept. */
const resources: Adjust = (spec) =>
  within(spec, 'resources', ({ requests, limits }) => {
    const amounts = limits ?? requests
    return amounts === undefined ? {} : limits === undefined ? { requests: amounts } : { limits: amounts }
  })

const onlyOne = (item: Spec, fields: readonly string[], random: Random, fallback: Spec): Spec => {
  const present = fields.filter((field) => field in item)
  const others = Object.fromEntries(Object.entries(item).filter(([name]) => !fields.includes(name)))
  if (present.length === 0) return { ...others, ...fallback }
  const kept = pick(random, present)
  return { ...others, [kept]: item[kept] }
}

const own = new Set<string>([...ownVolumes, ...ownServerVolumes])
const ownVariables = new Set<string>(serverVariables)

function mounts(spec: Spec, random: Random): Spec {
  const sources = ['configMap', 'secret', 'persistentVolumeClaim', 'emptyDir']
  const volumes = listOf(spec['volumes'])
    .filter(({ name }) => !own.has(String(name)))
    .map((volume) => onlyOne(volume, sources, random, { emptyDir: {} }))
  const { volumes: _volumes, volumeMounts: given, ...others } = spec
  if (volumes.length === 0) return others
  const volumeMounts = listOf(given).map((mount) => ({
    ...mount,
    name: pick(random, volumes)['name'],
    ...('subPath' in mount && { subPath: 'inside' }),
    mountPath: String(mount['mountPath']).replaceAll('..', '--'),
  }))
  return { ...others, volumes, volumeMounts }
}

function environment(spec: Spec, random: Random): Spec {
  const { envFrom, ...others } = spec
  if (envFrom === undefined) return spec
  const each = listOf(envFrom).map((source) =>
    onlyOne(source, ['configMapRef', 'secretRef'], random, { secretRef: { name: 'absent', optional: true } }),
  )
  return { ...others, envFrom: each }
}

const valueSources = ['secretKeyRef', 'configMapKeyRef', 'fieldRef']

/** Variables with one source each, under names that are not the operator's. */
function variables(spec: Spec, random: Random): Spec {
  const changed = environment(spec, random)
  if (changed['env'] === undefined) return changed
  const env = listOf(changed['env'])
    .filter(({ name }) => !ownVariables.has(String(name)))
    .map(({ valueFrom, ...variable }) => {
      if (!isSpec(valueFrom)) return variable
      const fallback = { fieldRef: { fieldPath: 'metadata.name' } }
      return { ...variable, value: '', valueFrom: onlyOne(valueFrom, valueSources, random, fallback) }
    })
  return { ...changed, env }
}

/** Few workers most of the time: a thousand pods are expensive for the API server. */
function workers(spec: Spec, random: Random): Spec {
  const numWorkers = random() < 0.995 ? between(random, 1, 3) : 1024
  const changed = { ...spec, numWorkers }
  return within(changed, 'elastic', () => ({ minWorkers: 1, maxWorkers: pick(random, [numWorkers, 1024]) }))
}

function roles(spec: Spec, random: Random): Spec {
  const { roles: given, framework = 'pytorch', engine, ...others } = spec
  const fitting = framework === 'tensorflow' ? ['chief', 'ps', 'evaluator'] : framework === 'mpi' ? ['launcher'] : []
  const kept = listOf(given)
    .filter(({ name }) => fitting.includes(String(name)))
    .map((role) => ({ ...resources(role, random), replicas: role['name'] === 'ps' ? between(random, 1, 2) : 1 }))
  const isPods = framework === 'mpi' || kept.length > 0
  return {
    ...others,
    ...('framework' in spec && { framework }),
    ...(kept.length > 0 && { roles: kept }),
    ...(engine !== undefined && { engine: isPods ? 'pods' : engine }),
  }
}

const checkpointPaths: Readonly<Record<string, string>> = { s3: 's3://b/p', gcs: 'gs://b/p', pvc: '/c' }

const checkpoint: Adjust = (spec) =>
  within(spec, 'checkpoint', (value) =>
    within(value, 'storage', ({ accessModes, ...storage }) => ({
      ...storage,
      ...((storage['type'] ?? 'pvc') === 'pvc' && accessModes !== undefined && { accessModes }),
      path: checkpointPaths[typeof storage['type'] === 'string' ? storage['type'] : 'pvc'],
    })),
  )

const program: Adjust = (spec) =>
  'image' in spec && 'command' in spec ? spec : { model: 'resnet50', dataset: 'imagenet', ...spec }

const versionWeights: Adjust = (spec, random) => {
  const versions = listOf(spec['versions']).map((version, index) => {
    const modelPath = pick(random, paths)
    return {
      ...mounts(variables(resources(version, random), random), random),
      name: String(version['name']).slice(0, 10).replace(/-+$/, '') + (index === 0 ? '' : String(index)),
      modelPath,
      // The digest of an image is its checksum.
      ...(modelPath.startsWith('oci:') && { checksum: undefined }),
      weight: 0,
    }
  })
  const last = versions.length - 1
  let left = 100
  const weights = versions.map((_, index) => {
    const weight = index === last ? left : pick(random, [0, 1, Math.floor(left / 2), left])
    left -= Math.min(weight, left)
    return weight
  })
  return { ...spec, versions: versions.map((version, index) => ({ ...version, weight: weights[index] })) }
}

const paths: readonly string[] = [
  '/models/m',
  's3://bucket/' + 'k'.repeat(900),
  'gs://b',
  'az://container/a',
  'https://example.com/é%00?q=1#f',
  'hf://owner/model',
  'pvc://claim/a/b',
  'pvc://' + 'c'.repeat(63),
  'oci://registry.example.com:5000/models/bert:v1?path=/a/b',
  `oci://r/m@sha256:${'a'.repeat(64)}`,
  '/',
]

const uris: readonly string[] = paths.filter((path) => /^(https?|s3|gs|oci):/.test(path))

/** Few pods most of the time; the quota limits the pods of a Deployment with millions of replicas. */
const scaling: Adjust = (spec, random) =>
  within(spec, 'scaling', (value) => {
    const minReplicas = random() < 0.9 ? between(random, 1, 2) : 2 ** 31 - 1
    return { ...value, minReplicas, maxReplicas: Math.max(minReplicas, pick(random, [1, 3, 2 ** 31 - 1])) }
  })

const storage: Adjust = (spec, random) =>
  within(spec, 'storage', (value) => {
    const { claimName, size, storageClass, ...others } = value
    if (claimName !== undefined && random() < 0.5) return { ...others, claimName }
    return { ...others, ...(size !== undefined && { size, ...(storageClass !== undefined && { storageClass }) }) }
  })

/** Only some frameworks have a default runtime. */
const runtime: Adjust = (spec) => ('runtime' in spec || 'image' in spec ? spec : { ...spec, framework: 'onnx' })

const mlops: Adjust = (spec, random) => ({
  ...spec,
  modelURI: pick(random, uris),
  ...('validateScript' in spec && { validateScript: pick(random, ['validate.py', '/v', '-', '.', 'a/'.repeat(250)]) }),
  ...('version' in spec && { version: String(spec['version']).slice(0, 10).replace(/-+$/, '') }),
})

/** Times that no campaign meets, in zones that exist and in one that does not. */
const schedule: Adjust = (spec, random) => {
  const cron = pick(random, ['0 0 29 2 *', '0 0 30 2 *', '59 23 29 FEB ?', '30-10 0 29 2 *'])
  const timeZone = pick(random, ['UTC', 'Europe/Berlin', 'Mars/Base'])
  return within({ ...spec, schedule: cron, timeZone }, 'jobTemplate', (template) =>
    within(template, 'spec', (job) => training.reduce((result, adjust) => adjust(result, random), job)),
  )
}

const training: readonly Adjust[] = [workers, roles, checkpoint, program, mounts, environment, resources]

const adjustments: Readonly<Record<string, readonly Adjust[]>> = {
  'ml.example.com/v1 TrainingJob': training,
  'ml.example.com/v1 TrainingSchedule': [schedule],
  'ml.example.com/v1alpha1 TrainingJob': [(spec, random) => ({ ...spec, workers: between(random, 1, 3) }), resources],
  'ml.example.com/v1 ModelDeployment': [versionWeights, scaling, storage, runtime, variables, mounts, resources],
  'mlops.sathvik.dev/v1 ModelDeployment': [mlops, resources],
  'ml.example.com/v1 ModelServer': [variables, mounts],
}

export function plausible(kind: string, spec: Spec, random: Random): Spec {
  return (adjustments[kind] ?? []).reduce((result, adjust) => adjust(result, random), spec)
}
