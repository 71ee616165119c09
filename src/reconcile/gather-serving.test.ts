import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../kube/client.ts'
import type { KubeObject, Resource } from '../kube/object.ts'
import type { Deployment, EndpointSlice, Pod, Service } from '../kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, serverLabels, VERSION_LABEL } from '../plan/model-names.ts'
import { defaultServingConfig } from '../plan/serving/config.ts'
import { planServing } from '../plan/serving/plan.ts'
import { providers } from '../plan/traffic/index.ts'
import { type Cache, Caches, createLogger, RuntimeMetrics, systemClock } from '../runtime/index.ts'
import { MODEL_UID, modelDeployment } from '../../test/sim/serving-cluster.ts'
import { gatherServing } from './gather-serving.ts'
import { modelKeys, servingCaches } from './serving-caches.ts'

const model = modelDeployment()
const NAMESPACE = model.metadata.namespace ?? ''
const labels = { app: model.metadata.name, [MODEL_UID_LABEL]: MODEL_UID }
const controlledBy = (kind: string, name: string, uid: string, apiVersion = 'apps/v1') => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
})
const byModel = controlledBy('ModelDeployment', model.metadata.name, MODEL_UID, 'ml.example.com/v1')

interface Meta {
  readonly name: string
  readonly uid: string
  readonly namespace?: string
  readonly labels?: object
  readonly ownerReferences?: readonly object[]
}

function object(kind: string, meta: Meta, rest: object = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { namespace: NAMESPACE, labels, ...meta }, ...rest } as KubeObject
}

const selector = serverLabels(model, 'v1')
const deployment = (more: Partial<Meta> = {}): Deployment =>
  object(
    'Deployment',
    { name: 'iris-deployment', uid: 'd', labels: { ...labels, [VERSION_LABEL]: 'v1' }, ...byModel, ...more },
    {
      spec: { replicas: 1, selector: { matchLabels: selector }, template: {} },
      status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    },
  )
const job = object('Job', { name: 'iris-v1-validate-1', uid: 'j', ...byModel })
const hashed = { ...labels, ...selector, 'pod-template-hash': 'abc' }
const replicaSet = controlledBy('ReplicaSet', 'iris-deployment-abc', 'rs')
const pod = (name: string, more: Partial<Meta> = {}): Pod =>
  object('Pod', { name, uid: name, labels: hashed, ...replicaSet, ...more })

async function filled<T extends KubeObject>(cache: Cache<T>, items: readonly T[]): Promise<void> {
  await cache.follow(async function* updates() {
    yield { type: 'replace', items, resourceVersion: '1' } as const
  })
}

interface World {
  readonly pods?: readonly Pod[]
  readonly deployments?: readonly Deployment[]
  readonly services?: readonly Service[]
  readonly endpoints?: readonly EndpointSlice[]
}

async function observed({ pods = [], deployments = [], services = [], endpoints = [] }: World) {
  const log = createLogger({ level: 'error' })
  const all = new Caches({ client: {} as Client, log, metrics: new RuntimeMetrics(systemClock) })
  const caches = servingCaches(all)
  const { children } = caches
  await filled(caches.pods, pods)
  await filled(caches.endpoints, endpoints)
  await filled(children.deployments, deployments)
  await filled(children.services, services)
  await filled(children.jobs, [job])
  await filled(caches.models, [model])
  const readReports = () => Promise.resolve(new Map<string, never>())
  const rates = { note: () => new Map() }
  const deviceSources = { nodes: caches.nodes, pods: [caches.pods] }
  const deps = { caches, config: defaultServingConfig, now: 0, readReports, rates, deviceSources }
  const seen = await gatherServing(model, deps)
  return { seen, caches }
}

const OTHER = { namespace: 'team-b' }

const forged: readonly (readonly [string, Partial<Meta>])[] = [
  ['in another namespace', OTHER],
  ['without a controller', { ownerReferences: [] }],
  ['of a ReplicaSet of another Deployment', controlledBy('ReplicaSet', 'mine-abc', 'x')],
  ['of a ReplicaSet of another API group', controlledBy('ReplicaSet', 'iris-deployment-abc', 'x', 'mine.dev/v1')],
  ['of a ReplicaSet that its hash does not name', { labels: { ...labels, ...selector, 'pod-template-hash': 'x' } }],
  ['of a Job that is not the one of the model', controlledBy('Job', 'iris-v1-validate-1', 'x', 'batch/v1')],
  ['of the Job, in another namespace', { ...OTHER, ...controlledBy('Job', 'iris-v1-validate-1', 'j', 'batch/v1') }],
  ['that the Deployment does not select', { labels: { ...hashed, [ROLE_LABEL]: 'other' } }],
  ['of the model itself', byModel],
]

for (const [what, more] of forged) {
  test(`ignores a pod ${what}`, async () => {
    const { seen } = await observed({ pods: [pod('a'), pod('b', more)], deployments: [deployment()] })
    assert.deepEqual(
      seen.pods.map(({ metadata }) => metadata.name),
      ['a'],
    )
  })
}

test('counts pods of the Deployments and Jobs of the model', async () => {
  const validation = pod('b', controlledBy('Job', 'iris-v1-validate-1', 'j', 'batch/v1'))
  const { seen } = await observed({ pods: [pod('a'), validation], deployments: [deployment()] })
  assert.equal(seen.pods.length, 2)
})

const service = (more: Partial<Meta> = {}): Service =>
  object('Service', { name: 'iris-service', uid: 's', ...byModel, ...more }, { spec: { selector } })
const slice = (more: Partial<Meta> = {}): EndpointSlice => ({
  ...object('EndpointSlice', {
    name: 'iris-service-x',
    uid: 'e',
    ...controlledBy('Service', 'iris-service', 's', 'v1'),
    ...more,
  }),
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
})

function isReady(seen: Awaited<ReturnType<typeof observed>>['seen']): boolean {
  const ready = planServing(seen).status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True'
}

test('a model is not Ready by objects of another namespace that carry its uid', async () => {
  const own = { deployments: [deployment()], services: [service()], endpoints: [slice()] }
  assert.equal(isReady((await observed(own)).seen), true)
  for (const forgery of [
    { ...own, deployments: [deployment(OTHER)] },
    { ...own, services: [service(OTHER)] },
    { ...own, endpoints: [slice(OTHER)] },
  ])
    assert.equal(isReady((await observed(forgery)).seen), false)
})

test('an object of another namespace does not wake the model whose uid it carries', async () => {
  const { caches } = await observed({})
  const keys = modelKeys(caches.models)
  assert.deepEqual(keys(pod('a')), [{ namespace: NAMESPACE, name: model.metadata.name }])
  assert.deepEqual(keys(pod('a', OTHER)), [])
})

test('finds what an earlier model of the same name left behind', async () => {
  const earlier = controlledBy('ModelDeployment', model.metadata.name, 'uid-before', 'ml.example.com/v1')
  const left = service({ ...earlier, labels: { ...labels, [MODEL_UID_LABEL]: 'uid-before' } })
  const leftoversOf = async (services: readonly Service[]) => (await observed({ services })).seen.leftovers
  assert.deepEqual(await leftoversOf([left]), [left])
  const others = [
    service(),
    service({ labels: { ...labels, [MODEL_UID_LABEL]: 'edited by hand' } }),
    service({ ...left.metadata, ...OTHER }),
    service({
      ...left.metadata,
      ...controlledBy('TrainingJob', model.metadata.name, 'uid-before', 'ml.example.com/v1'),
    }),
  ] as Service[]
  for (const one of others) assert.deepEqual(await leftoversOf([one]), [])
})

test('watches every kind that a traffic provider declares, and only where the cluster serves it', async () => {
  const { caches, seen } = await observed({})
  const kindOf = ({ resource }: { readonly resource: Resource }): string => resource.kind
  assert.deepEqual(caches.routes.map(kindOf), providers.kinds.map(kindOf))
  assert.ok(caches.routes.length > 0)
  assert.equal(seen.servedKinds.size, caches.routes.filter(({ isServed }) => isServed).length)
})
