/** No two objects claim the same name: every pair of owners, with names that contain each other's endings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reservedVersionNames } from '../api/serving-version.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import * as model from './model-names.ts'
import { frameworks } from './training/frameworks/registry.ts'
import * as training from './training/names.ts'
import { defaultTrafficConfig, providers } from './traffic/index.ts'

const UID = '12345678-0000'
const DIGEST = '0a1b2c3d'

interface Child {
  readonly id: string
  /** Named `{name}-{version}`. */
  readonly isVersioned?: boolean
}

const of = (kind: string, name: string, isVersioned = false): Child => ({ id: `${kind}/${name}`, isVersioned })
const named = (name: string) => ({ metadata: { name, uid: UID } })

function jobChildren(name: string): Child[] {
  const job = named(name) as TrainingJob
  return [
    of('Service', training.serviceName(job)),
    of('ConfigMap', training.configMapName(job)),
    of('ConfigMap', training.historyName(job)),
    of('PersistentVolumeClaim', training.claimName(job)),
    of('Pod', training.checkpointPodName(job)),
    of('Job', training.workloadName(job)),
    ...Object.values(frameworks).flatMap(({ secrets = [] }) => secrets.map((secret) => of('Secret', secret.name(job)))),
    ...['worker', 'chief', 'launcher'].map((role) => of('Pod', training.podName(job, role, 0))),
  ]
}

function modelChildren(name: string, versions: readonly string[]): Child[] {
  const owner = named(name)
  return [
    of('Service', model.serviceName(owner)),
    of('Service', model.previewName(owner)),
    of('Deployment', model.soleDeploymentName(owner)),
    of('HorizontalPodAutoscaler', model.soleAutoscalerName(owner)),
    of('ConfigMap', model.filesName(owner, DIGEST)),
    of('PersistentVolumeClaim', model.cacheClaimName(owner)),
    ...routesOf(name),
    ...versions.flatMap((version) => [
      ...['Deployment', 'Service', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'].map((kind) =>
        of(kind, model.versionedName(owner, version), true),
      ),
      of('Job', model.validationName(owner, version, DIGEST), true),
      of('Job', model.analysisName(owner, version, { revision: 1, step: 1, digest: DIGEST }), true),
    ]),
  ]
}

/** Providers name their objects themselves. */
function routesOf(name: string): Child[] {
  const target = {
    name,
    namespace: 'n',
    labels: {},
    backends: [],
    primary: '',
    wanted: new Map(),
    recorded: new Map(),
    config: defaultTrafficConfig,
    port: 80,
    gateways: ['public'],
  }
  const nothing = { routes: [], proxies: [], reports: new Map(), servers: [], available: new Map(), now: 0 }
  return providers.all
    .flatMap((provider) => provider.render(target, nothing).apply)
    .map(({ kind, metadata }) => of(kind, metadata.name))
}

const words = ['a', 'b', 'v1', ...reservedVersionNames, 'job', 'models', 'files', 'history', 'checkpoints', 'validate']
const joined = words.flatMap((one) => [`a-${one}`, `${one}-a`, `a-${one}-${DIGEST}`, `a-v1-${one}`])
const names = [...new Set([...words, ...joined])]
const isReserved = (version: string): boolean => reservedVersionNames.some((name) => name === version)
const versions = names.filter((name) => !isReserved(name))

test('all functions that name children are tried', () => {
  const tried = `${jobChildren.toString()}${modelChildren.toString()}`
  const naming = [...Object.keys(model), ...Object.keys(training)].filter((name) => name.endsWith('Name'))
  assert.deepEqual(
    naming.filter((name) => !tried.includes(`.${name}(`)),
    [],
  )
})

test('a model has no two children of the same kind and name', () => {
  for (const name of names) {
    const ids = modelChildren(name, versions).map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length, name)
  }
})

test('children of a TrainingJob and of a model of the same name never share a name', () => {
  for (const name of names) {
    const ofJob = new Set(jobChildren(name).map(({ id }) => id))
    const shared = modelChildren(name, versions).filter(({ id }) => ofJob.has(id))
    assert.deepEqual(shared, [], name)
  }
})

test('children of any two owners share a name only by the name of a version', () => {
  const jobs = new Map(names.flatMap((name) => jobChildren(name).map(({ id }) => [id, name])))
  const fixed = new Map<string, string>()
  for (const name of names) {
    for (const { id, isVersioned } of modelChildren(name, versions)) {
      if (isVersioned) continue
      assert.equal(jobs.get(id), undefined, `model ${name}, job ${jobs.get(id) ?? ''}: ${id}`)
      assert.equal(fixed.get(id) ?? name, name, `models ${name} and ${fixed.get(id) ?? ''}: ${id}`)
      fixed.set(id, name)
    }
  }
})
