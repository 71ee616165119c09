/** Nothing that decides what runs can change without another validation: every leaf of both schemas is changed in turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ModelDeployment, modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { type ModelServer, modelServerV1 } from '../../../api/modelserver.v1.ts'
import { type JsonSchema, plain } from '../../../api/structural.ts'
import type { Deployment } from '../../../kube/resources.ts'
import { modelDeployment } from '../../../../test/sim/serving-cluster.ts'
import { filesOf } from './config-map.ts'
import { defaultServingConfig } from '../config.ts'
import { fingerprint } from '../../fingerprint.ts'
import { serverTemplate, validationTemplate } from './pod-template.ts'
import { servedModel, serverOf } from '../observe/served-model.ts'
import { isCarriedOver, validationDigest } from './validation-digest.ts'

type Spec = Record<string, unknown>

const checksum = `sha256:${'a'.repeat(64)}`
const probe = { path: '/h', periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1, command: ['check'] }
const amounts = { requests: { cpu: '1' }, limits: { cpu: '1' } }

const sources = [
  { secretRef: { name: 's', optional: true }, configMapRef: { name: 'c', optional: true }, prefix: 'P_' },
]
const keyRef = { name: 'n', key: 'k', optional: true }
const referring = [
  { name: 'SECRET', value: '', valueFrom: { secretKeyRef: keyRef, configMapKeyRef: keyRef } },
  { name: 'NODE', value: '', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
]
const addedContainer = {
  image: 'side:1',
  command: ['side'],
  args: ['--on'],
  env: [{ name: 'SIDE', value: '1' }],
  volumeMounts: [{ name: 'server', mountPath: '/side' }],
  resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
}
/** With all sources at once, so that each of them is tried. */
const mounted = (name: string) => ({
  volumes: [
    {
      name,
      configMap: { name: 'c' },
      secret: { secretName: 's' },
      persistentVolumeClaim: { claimName: 'p', readOnly: true },
      emptyDir: { medium: 'Memory', sizeLimit: '1Gi' },
    },
  ],
  volumeMounts: [{ name, mountPath: `/${name}`, subPath: 'a', readOnly: true }],
})

/** With the fields that a template declares. Those of its metadata and placement do not decide what runs. */
const template = (name: string) => ({
  metadata: { labels: { team: name }, annotations: { note: name } },
  spec: {
    schedulerName: 'own',
    containers: [
      { ...addedContainer, name: `${name}-side` },
      { name: 'server', env: [{ name: `ADDED_${name.toUpperCase()}`, value: '1' }] },
    ],
    initContainers: [{ ...addedContainer, name: `${name}-init` }],
    volumes: [{ name: `${name}-added` }],
  },
})

/** A model and a server that set every field that changes a pod. */
const server: Spec = {
  image: 'server:1',
  port: 8080,
  command: ['serve'],
  args: ['--now'],
  env: [{ name: 'SERVER', value: '1' }, ...referring.map((one) => ({ ...one, name: `S_${one.name}` }))],
  envFrom: sources,
  ...mounted('server'),
  files: [{ name: 'server.conf', content: 'workers=1' }],
  probes: { startup: probe, readiness: probe, liveness: probe },
  model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
}
const version: Spec = {
  name: 'v1',
  weight: 100,
  modelPath: 's3://models/a.bin',
  checksum,
  image: 'version:1',
  resources: amounts,
  args: ['--version'],
  env: [{ name: 'VERSION', value: '1' }, ...referring],
  envFrom: sources,
  ...mounted('version-volume'),
  podTemplate: template('version'),
}
const model: Spec = {
  modelName: 'iris',
  framework: 'sklearn',
  runtime: 'own',
  image: 'model:1',
  versions: [version],
  resources: amounts,
  args: ['--model'],
  env: [{ name: 'MODEL', value: '1' }, ...referring.map((one) => ({ ...one, name: `M_${one.name}` }))],
  envFrom: sources,
  ...mounted('model-volume'),
  validation: { script: 'validate.py', image: 'validator:1', timeoutSeconds: 60 },
  storage: {
    secretName: 's3',
    claimName: 'cache',
    credentialsFile: { secretName: 'f', key: 'k', variable: 'GOOGLE_APPLICATION_CREDENTIALS' },
    caBundle: { configMapName: 'c', key: 'k' },
  },
  scheduling: { priorityClassName: 'high', nodeSelector: { pool: 'gpu' } },
  serviceAccountName: 'reader',
  imagePullSecrets: [{ name: 'registry' }],
  podTemplate: template('model'),
}

const without = (spec: Spec, ...fields: readonly string[]): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => !fields.includes(name)))

interface Base {
  readonly model: Spec
  readonly server: Spec
}

/** What overrides something hides it, so each layer is tried without those above it. */
const bases: readonly Base[] = [
  { model, server },
  { model: { ...model, versions: [without(version, 'image', 'resources')] }, server },
  { model: { ...without(model, 'storage'), image: undefined, versions: [without(version, 'image')] }, server },
  { model: { ...model, versions: [{ ...version, modelPath: 'pvc://claim/dir/a.bin' }] }, server },
  { model: { ...model, versions: [{ ...version, modelPath: '/in/the/image' }] }, server },
  {
    model: { ...model, storage: { secretName: 's3', size: '1Gi' } },
    server: { ...server, model: { mountPath: '/mnt/models', layout: 'repository', readOnly: false } },
  },
]

/** Fields that change a pod but not what it runs. */
const harmless: Readonly<Record<string, string>> = {
  'model.resources': 'how much a pod may use',
  'model.versions.resources': 'how much a pod may use',
  'model.scheduling': 'where a pod runs',
  'model.imagePullSecrets': 'who pulls the image, not which',
  'model.healthCheck': 'when a pod counts as ready',
  'model.podTemplate.metadata': 'labels and annotations',
  'model.versions.podTemplate.metadata': 'labels and annotations',
  'model.podTemplate.spec.schedulerName': 'where a pod runs',
  'model.versions.podTemplate.spec.schedulerName': 'where a pod runs',
  'server.probes': 'when a pod counts as ready',
}

function render({ model: spec, server: serverSpec }: Base) {
  const deployed: ModelDeployment = modelDeployment(spec)
  const own = { spec: serverSpec } as unknown as ModelServer
  const found = serverOf(deployed, own, {})
  assert.ok(found)
  const served = servedModel(deployed, found)
  const [first] = served.versions
  assert.ok(first)
  const config = defaultServingConfig
  return {
    served,
    version: first,
    digest: validationDigest(served, first, config),
    pods: JSON.stringify([
      serverTemplate(served, first, config),
      validationTemplate(served, first, config),
      filesOf(served),
    ]),
  }
}

/** Every leaf, as the path to it; lists by their items, maps as one leaf. */
function leaves(schema: JsonSchema, path: readonly string[] = []): (readonly string[])[] {
  if (schema.items?.properties) return leaves(schema.items, path)
  if (!schema.properties) return [path]
  return Object.entries(schema.properties).flatMap(([name, below]) => leaves(below, [...path, name]))
}

const another: Readonly<Record<string, (value: unknown) => unknown>> = {
  undefined: () => 'another',
  string: (value) =>
    value === checksum ? `sha256:${'b'.repeat(64)}` : value === 'file' ? 'repository' : `${value as string}x`,
  number: (value) => (value as number) + 1,
  boolean: (value) => !(value as boolean),
  object: (value) => (Array.isArray(value) ? [...(value as unknown[]), 'more'] : { ...(value as object), more: '1' }),
}

/** The value with another one at the path; undefined where the base has nothing there. */
function changed(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return another[typeof value]?.(value)
  if (Array.isArray(value)) return value.map((item) => changed(item, [first, ...rest]))
  const { [first]: below } = (value ?? {}) as Spec
  return below === undefined ? value : { ...(value as Spec), [first]: changed(below, rest) }
}

const specs = { model: plain(modelDeploymentV1.spec), server: plain(modelServerV1.spec) }
const all = (['model', 'server'] as const).flatMap((part) =>
  leaves(specs[part]).map((path) => ({ part, path, name: [part, ...path].join('.') })),
)
const reasonFor = (name: string): string | undefined =>
  Object.keys(harmless).find((prefix) => name === prefix || name.startsWith(`${prefix}.`))

test(`every one of ${all.length} leaves that changes what runs changes the digest`, () => {
  const decisive = new Set<string>()
  for (const base of bases) {
    const before = render(base)
    for (const { part, path, name } of all) {
      const after = render({ ...base, [part]: changed(base[part], path) })
      if (after.pods === before.pods || reasonFor(name) !== undefined) {
        assert.equal(after.digest, before.digest, `${name} does not change what runs`)
      } else {
        decisive.add(name)
        assert.notEqual(after.digest, before.digest, `${name} changes what runs`)
      }
    }
  }
  for (const name of expected) assert.ok(decisive.has(name), `${name} is tried`)
})

/** The least that has to be among them, so that the test cannot pass by trying nothing. */
const expected = [
  'model.modelName',
  'model.framework',
  'model.image',
  'model.env.value',
  'model.storage.secretName',
  'model.storage.claimName',
  'model.storage.credentialsFile.secretName',
  'model.storage.credentialsFile.variable',
  'model.storage.caBundle.configMapName',
  'model.storage.caBundle.key',
  'model.serviceAccountName',
  'model.validation.script',
  'model.validation.image',
  'model.versions.modelPath',
  'model.versions.checksum',
  'model.versions.image',
  'model.versions.env.value',
  'server.image',
  'server.port',
  'model.args',
  'model.env.valueFrom.secretKeyRef.key',
  'model.env.valueFrom.fieldRef.fieldPath',
  'model.envFrom.secretRef.name',
  'model.volumes.configMap.name',
  'model.volumes.persistentVolumeClaim.claimName',
  'model.volumeMounts.mountPath',
  'model.volumeMounts.subPath',
  'model.podTemplate.spec.containers.image',
  'model.podTemplate.spec.containers.env.value',
  'model.podTemplate.spec.initContainers.command',
  'model.versions.podTemplate.spec.containers.args',
  'model.versions.podTemplate.spec.initContainers.image',
  'model.versions.args',
  'model.versions.env.valueFrom.configMapKeyRef.name',
  'model.versions.envFrom.configMapRef.name',
  'server.envFrom.prefix',
  'server.env.valueFrom.secretKeyRef.name',
  'server.volumes.secret.secretName',
  'server.volumeMounts.mountPath',
  'server.command',
  'server.args',
  'server.env.value',
  'server.files.name',
  'server.files.content',
  'server.model.mountPath',
  'server.model.layout',
  'server.model.readOnly',
]

test('a digest does not depend on what the operator brings itself', () => {
  const { served, version: first, digest } = render({ model, server })
  const other = { ...defaultServingConfig, agentImage: 'operator:2', user: 2000, sharedMemory: '2Gi' }
  assert.equal(validationDigest(served, first, other), digest)
})

test('a digest does not change with GPUs, nor with the variable that hides them', () => {
  const resources = { limits: { 'nvidia.com/gpu': 1 } }
  const gpus = { ...model, versions: [{ ...version, resources }] }
  const visible = (spec: Base): boolean => {
    const { served, version: first } = render(spec)
    const [container] = serverTemplate(served, first, defaultServingConfig).spec.containers
    return container?.env?.every(({ name }) => name !== 'NVIDIA_VISIBLE_DEVICES') ?? false
  }
  assert.deepEqual([visible({ model, server }), visible({ model: gpus, server })], [false, true])
  assert.equal(render({ model: gpus, server }).digest, render({ model, server }).digest)
})

/** As an earlier release recorded it: URI, image, script, name, layout and variables. */
function earlier({ served, version: first }: ReturnType<typeof render>): string {
  const { validation, server: runtime, modelName } = served
  const judged = validation?.image ?? first.image
  return fingerprint(
    JSON.stringify([first.uri, judged, validation?.script, modelName, runtime.model, runtime.env, first.env]),
  )
}

test('a result of an earlier release is valid only for what already runs', () => {
  const plainVersion = without(version, 'podTemplate')
  const base = { model: { ...without(model, 'podTemplate'), versions: [plainVersion] }, server }
  const rendered = render(base)
  const running = serverTemplate(rendered.served, rendered.version, defaultServingConfig)
  const deployment = { spec: { template: structuredClone(running) } } as unknown as Deployment
  const recorded = { name: 'v1', validated: earlier(rendered) }
  const carried = (spec: Base, more: object = {}): boolean => {
    const { served, version: wanted } = render(spec)
    const seen = { name: 'v1', wanted, deployment, recorded, pods: [], deploymentName: '', autoscalerName: '', ...more }
    return isCarriedOver(served, seen, defaultServingConfig)
  }
  assert.equal(carried(base), true)
  assert.equal(carried({ ...base, server: { ...server, args: ['--other'] } }), false)
  assert.equal(carried({ ...base, server: { ...server, files: [{ name: 'server.conf', content: 'other' }] } }), false)
  assert.equal(carried({ ...base, model: { ...base.model, versions: [without(plainVersion, 'checksum')] } }), false)
  assert.equal(carried({ ...base, model }), false, 'a pod template is validated')
  assert.equal(carried(base, { deployment: undefined }), false)
  assert.equal(carried(base, { recorded: { name: 'v1', validated: 'another' } }), false)
})
