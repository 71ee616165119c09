/** Fields that need the permission to create pods, set by tenants with and without it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HIDDEN_FIELDS } from '../../src/api/conversion.ts'
import {
  alphaTrainingJobs,
  mlopsModelDeployments,
  modelDeployments,
  trainingJobs,
  trainingSchedules,
} from '../../src/api/kinds.ts'
import type { UserPodTemplate } from '../../src/api/pod-template.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ApiError } from '../../src/kube/errors.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { mlopsModel, modelDeployment, versions } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { trainingSchedule } from '../builders/training-schedule.ts'
import { manifestsIn } from '../cluster/api.ts'
import { client, plane, running } from '../fixtures/conversion.ts'
import { until } from '../timing/until.ts'

const TEAM = 'team-a'
const template = { spec: { hostNetwork: true } } as object as UserPodTemplate
const account = { serviceAccountName: 'trainer' }

async function asUser(name: string): Promise<Client> {
  const user = createClient(await configFromKubeconfig(plane.kubeconfigFor({ name })))
  after(() => user.close())
  return user
}

async function grant(user: string, rules: string): Promise<void> {
  const [verbs, resources] = rules.split(' ')
  await plane.kubectl('create', 'role', user, '-n', TEAM, `--verb=${verbs}`, `--resource=${resources}`)
  await plane.kubectl('create', 'rolebinding', user, '-n', TEAM, `--role=${user}`, `--user=${user}`)
}

const OURS = [
  'trainingjobs.ml.example.com',
  'trainingschedules.ml.example.com',
  'modeldeployments.ml.example.com',
  'modeldeployments.mlops.sathvik.dev',
].join(',')
const SCALE = 'trainingjobs.ml.example.com/scale,trainingjobs.ml.example.com/status'
await grant('tenant', `create,update,patch,get ${OURS},${SCALE}`)
await grant('owner', `create,update,patch,get ${OURS},${SCALE},pods`)
for (const { objects } of await manifestsIn('config/admission'))
  for (const { apiVersion, kind, ...object } of objects) {
    const [group = '', version = ''] = apiVersion.split('/')
    const plural = kind.endsWith('Binding') ? `${kind}s` : kind.replace(/y$/, 'ies')
    const resource = { group, version, kind, plural: plural.toLowerCase(), namespaced: false }
    await client.apply(resource, { apiVersion, kind, ...object }, { force: true })
  }
const tenant = await asUser('tenant')
const owner = await asUser('owner')

async function rejection(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => '',
    (error: unknown) => {
      assert.ok(error instanceof ApiError && error.code === 403, String(error))
      return error.statusMessage
    },
  )
}

const isDenied = (message: string): boolean => message.includes('ValidatingAdmissionPolicy')

await until('the policy to be in effect', async () => {
  const job = trainingJob(TEAM, 'early', account)
  return isDenied(await rejection(tenant.create(trainingJobs, job, { dryRun: true })))
})

const withTemplate = versions({ v1: 100 }).map((version) => ({ ...version, podTemplate: template }))
const chief = { framework: 'tensorflow', roles: [{ name: 'chief', podTemplate: template }] }
const scheduled = (name: string, spec: object) =>
  trainingSchedule(TEAM, name, { jobTemplate: { spec: trainingJob('', '', spec).spec } })
const guarded: readonly [string, Resource, KubeObject][] = [
  ['spec.serviceAccountName', trainingJobs, trainingJob(TEAM, 'a', account)],
  ['spec.podTemplate', trainingJobs, trainingJob(TEAM, 'b', { podTemplate: template })],
  ['spec.roles[].podTemplate', trainingJobs, trainingJob(TEAM, 'c', chief as never)],
  ['spec.jobTemplate.spec.serviceAccountName', trainingSchedules, scheduled('a', account)],
  ['spec.jobTemplate.spec.podTemplate', trainingSchedules, scheduled('b', { podTemplate: template })],
  ['spec.jobTemplate.spec.roles[].podTemplate', trainingSchedules, scheduled('c', chief)],
  ['spec.serviceAccountName', modelDeployments, modelDeployment(TEAM, 'a', account)],
  ['spec.podTemplate', modelDeployments, modelDeployment(TEAM, 'b', { podTemplate: template })],
  ['spec.versions[].podTemplate', modelDeployments, modelDeployment(TEAM, 'c', { versions: withTemplate })],
]

for (const [field, resource, object] of guarded) {
  const { kind, metadata } = object
  test(`${kind} with ${field}: needs the permission to create pods`, async () => {
    const message = await rejection(tenant.create(resource, object))
    assert.ok(message.includes(`${field} needs the permission to create pods`), message)
    assert.ok(message.includes('ask an administrator'), message)
    await owner.create(resource, object)
    // An update that leaves the field as it is needs nothing more.
    const labels = { metadata: { labels: { changed: 'yes' } } }
    await tenant.patch(resource, { namespace: TEAM, name: metadata.name }, labels)
  })
}

test('objects without these fields need nothing more', async () => {
  await tenant.create(trainingJobs, trainingJob(TEAM, 'plain'))
  await tenant.create(trainingSchedules, scheduled('plain', {}))
  await tenant.create(modelDeployments, modelDeployment(TEAM, 'plain'))
  await tenant.create(mlopsModelDeployments, mlopsModel(TEAM, 'plain'))
})

test('a change of such a field needs the permission, scaling and removing it do not', async () => {
  const key = { namespace: TEAM, name: 'changed' }
  await owner.create(trainingJobs, trainingJob(TEAM, 'changed', { ...account, podTemplate: template, suspend: true }))
  for (const spec of [{ serviceAccountName: 'other' }, { podTemplate: { spec: { hostPID: true } } }])
    assert.ok(isDenied(await rejection(tenant.patch(trainingJobs, key, { spec }))), JSON.stringify(spec))
  await plane.kubectl('scale', 'tj/changed', '-n', TEAM, '--replicas=3', '--as=tenant')
  await tenant.patch(trainingJobs, key, { spec: { suspend: false } })
  await tenant.patch(trainingJobs, key, { status: { state: 'Pending' } }, { subresource: 'status' })
  await tenant.patch(trainingJobs, key, { metadata: { finalizers: ['example.com/mine'] } })
  await tenant.patch(trainingJobs, key, { metadata: { finalizers: null } })
  await tenant.patch(trainingJobs, key, { spec: { podTemplate: null, serviceAccountName: null } })
})

test('a template of one version is not a permission for another', async () => {
  const key = { namespace: TEAM, name: 'c' }
  const [first] = withTemplate
  const both = [
    { ...first, weight: 50 },
    { ...first, name: 'v2', weight: 50 },
  ]
  assert.ok(isDenied(await rejection(tenant.patch(modelDeployments, key, { spec: { versions: both } }))))
  await owner.patch(modelDeployments, key, { spec: { versions: both } })
})

test('a template hidden in an annotation of v1alpha1 needs the permission too', async (t) => {
  await running(t)
  const annotations = { [HIDDEN_FIELDS]: JSON.stringify({ '/spec/podTemplate': template }) }
  const spec = { framework: 'pytorch', image: 'example.com/trainer:1', command: ['train'] }
  const job = { apiVersion: 'ml.example.com/v1alpha1', kind: 'TrainingJob', spec }
  const named = (name: string, metadata: object = {}) =>
    ({ ...job, metadata: { namespace: TEAM, name, ...metadata } }) as never
  assert.ok(isDenied(await rejection(tenant.create(alphaTrainingJobs, named('alpha', { annotations })))))
  await tenant.create(alphaTrainingJobs, named('alpha-plain'))
  await owner.create(alphaTrainingJobs, named('alpha', { annotations }))
  const stored = await client.get(trainingJobs, { namespace: TEAM, name: 'alpha' })
  assert.deepEqual(stored.spec.podTemplate, template)
  const key = { namespace: TEAM, name: 'alpha' }
  await tenant.patch(alphaTrainingJobs, key, { spec: { workers: 2 } })
  assert.deepEqual((await client.get(trainingJobs, key)).spec.podTemplate, template)
})
