/** Admission of pod templates: each guarded field is rejected by name with the fix, everywhere a template can be. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GuardedContainer, type PodGuards, servingGuards, trainingGuards } from '../../src/api/pod-guards.ts'
import { type Complete, completeModelDeployment, completeTrainingJob } from '../builders/manifests.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec } from '../fixtures/admission.ts'

const client = await clientWithApi()

type Bad = readonly [template: object, ...words: string[]]

const ofField = (field: string): unknown => {
  if (field === 'ephemeralContainers') return [{ name: 'debug' }]
  return field === 'priority' || field === 'activeDeadlineSeconds' ? 5 : 'x'
}

const ofContainer: Readonly<Record<string, object>> = {
  image: { image: 'x' },
  command: { command: ['x'] },
  args: { args: ['x'] },
  envFrom: { envFrom: [{ secretRef: { name: 's' } }] },
  'resources.requests': { resources: { requests: { cpu: '1' } } },
  'resources.limits': { resources: { limits: { cpu: '1' } } },
}

function badIn(list: string, { name, fields, variables }: GuardedContainer, path: string): Bad[] {
  const at = (more: object): object => ({ spec: { [list]: [{ name, ...more }] } })
  return [
    ...Object.entries(fields).map(([field, fix]): Bad => [at(ofContainer[field] ?? {}), field, fix]),
    ...variables.map((variable): Bad => [
      at({ env: [{ name: variable, value: 'x' }] }),
      `${list}[0].env`,
      'choose another name',
    ]),
    [at({ volumeMounts: [{ name: 'x', mountPath: path }] }), `${list}[0].volumeMounts`, 'choose another path'],
  ]
}

function badTemplates({ fields, container, initContainer, otherContainers, volumes }: PodGuards, path: string): Bad[] {
  const inits = [container.name, ...otherContainers]
  const mains = [...(initContainer ? [initContainer.name] : []), ...otherContainers]
  return [
    ...Object.entries(fields).map(([field, fix]): Bad => [{ spec: { [field]: ofField(field) } }, `spec.${field}`, fix]),
    ...badIn('containers', container, path),
    ...(initContainer ? badIn('initContainers', initContainer, '/cache') : []),
    ...mains.map((name): Bad => [{ spec: { containers: [{ name }] } }, 'containers[0].name', 'choose another name']),
    ...inits.map((name): Bad => [{ spec: { initContainers: [{ name }] } }, 'initContainers[0].name', 'choose another']),
    ...volumes.map((name): Bad => [{ spec: { volumes: [{ name }] } }, 'volumes[0].name', 'choose another name']),
    ...['labels', 'annotations'].flatMap((kind) =>
      ['app', 'component', 'trainingjob', 'trainingjob.ml.example.com/role', 'job-name'].map((key): Bad => [
        { metadata: { [kind]: { [key]: 'x' } } },
        `metadata.${kind}`,
        'choose another key',
      ]),
    ),
    [{ metadata: { labels: { team: 'no label' } } }, 'metadata.labels.team'],
    [{ spec: { containers: [{ name: 'a' }, { name: 'a' }] } }, 'containers[1]', 'Duplicate'],
    [{ spec: { containers: [{ image: 'a' }] } }, 'containers[0].name'],
    [{ spec: { containers: [{ name: 'a', env: [{ name: 'A', value: 4 }] }] } }, 'env[0].value', 'string'],
  ]
}

const role = (podTemplate: object): Spec => ({ roles: [{ name: 'chief', podTemplate }] })
const version = (podTemplate: object): Spec => ({
  versions: [{ name: 'v1', weight: 100, modelPath: 's3://b/m', podTemplate }],
})
const whole = (podTemplate: object): Spec => ({ podTemplate })

const places: readonly [string, Complete, PodGuards, string, (template: object) => Spec][] = [
  ['podTemplate of a TrainingJob', completeTrainingJob, trainingGuards, '/dev/shm', whole],
  ['roles[].podTemplate', completeTrainingJob, trainingGuards, '/data', role],
  ['podTemplate of a ModelDeployment', completeModelDeployment, servingGuards, '/tmp', whole],
  ['versions[].podTemplate', completeModelDeployment, servingGuards, '/mnt/models', version],
]

for (const [name, { resource, manifest }, guards, path, put] of places)
  test(`${name}: rejects what the operator keeps for itself, with the fix`, async (t) => {
    const into = await namespace(t)
    const all = badTemplates(guards, path)
    for (const [template, ...words] of all) {
      const spec = { ...manifest.spec, ...put(template) }
      await assertRejected(
        JSON.stringify(template),
        rejectionBy(client, resource, placed(manifest, into, spec)),
        ...words,
      )
    }
    t.diagnostic(`${all.length} templates rejected`)
  })

const accepted: readonly object[] = [
  { spec: { hostNetwork: true, hostPID: true, hostUsers: false, dnsPolicy: 'None', runtimeClassName: 'kata' } },
  { spec: { securityContext: { runAsUser: 0 }, tolerations: [{ operator: 'Exists' }], nodeSelector: { a: 'b' } } },
  { spec: { containers: [{ name: 'side', image: 'x', env: [{ name: 'RANK', value: '1' }] }] } },
  { spec: { containers: [{ name: 'side', volumeMounts: [{ name: 'dshm', mountPath: '/dev/shm' }] }] } },
  { spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }], anything: { deep: [1, { a: true }] } } },
]

test('accepts everything else, and keeps it as it is', async (t) => {
  const into = await namespace(t)
  for (const { resource, manifest } of [completeTrainingJob, completeModelDeployment])
    for (const podTemplate of accepted) {
      const object = placed(manifest, into, { ...manifest.spec, podTemplate })
      const created = await client.create(resource, object, { dryRun: true })
      assert.deepEqual(created.spec['podTemplate'], podTemplate)
    }
})

test('a sidecar of engine job is an init container, and no mount hides the checkpoints', async (t) => {
  const into = await namespace(t)
  const { resource, manifest } = completeTrainingJob
  const base = { image: 'x', command: ['x'], engine: 'job', checkpoint: { storage: { path: '/ckpt' } } }
  const reject = (spec: Spec) => rejectionBy(client, resource, placed(manifest, into, { ...base, ...spec }))
  const sidecar = { name: 'side', image: 'x' }
  const inContainers = { podTemplate: { spec: { containers: [sidecar] } } }
  await assertRejected('a sidecar', reject(inContainers), 'podTemplate.spec.containers', 'restartPolicy Always')
  assert.equal(await reject({ ...inContainers, engine: 'pods' }), undefined)
  const init = { podTemplate: { spec: { initContainers: [{ ...sidecar, restartPolicy: 'Always' }] } } }
  assert.equal(await reject(init), undefined)
  const mount = { name: 'training-worker', volumeMounts: [{ name: 'a', mountPath: '/ckpt' }] }
  const hiding = { podTemplate: { spec: { containers: [mount] } } }
  await assertRejected('a mount', reject(hiding), 'podTemplate.spec.containers', 'checkpoint.storage.path')
})

test('env of a TrainingJob: values from Secrets, ConfigMaps and fields', async (t) => {
  const into = await namespace(t)
  const { resource, manifest } = completeTrainingJob
  const reject = (...env: object[]) =>
    rejectionBy(client, resource, placed(manifest, into, { image: 'x', command: ['x'], env }))
  const ref = { name: 's', key: 'k' }
  assert.equal(
    await reject({ name: 'A', valueFrom: { secretKeyRef: ref } }, { name: 'B', valueFrom: { configMapKeyRef: ref } }),
    undefined,
  )
  await assertRejected(
    'both',
    reject({ name: 'A', value: 'x', valueFrom: { secretKeyRef: ref } }),
    'env[].value',
    'remove one',
  )
  await assertRejected('no source', reject({ name: 'A', valueFrom: {} }), 'valueFrom', 'exactly one source')
  const field = { fieldRef: { fieldPath: 'spec.volumes' } }
  await assertRejected('a field', reject({ name: 'A', valueFrom: field }), 'fieldPath')
})
