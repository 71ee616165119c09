/** The judges of serving judged: each oracle of the crash test is shown the crime it is there for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTE_ANNOTATION } from '../../src/api/router-report.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { routersOf } from '../crash/serving-lab.ts'
import { servingOracles } from '../crash/serving-oracles.ts'
import type { Sighting, World } from '../crash/witness.ts'

let moment = 100
let places = 0

interface Look {
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly generation?: number
  readonly orphan?: boolean
}

function object(kind: string, name: string, { orphan, labels, ...look }: Look, more: object = {}): KubeObject {
  const owner = { apiVersion: 'v1', kind: 'Owner', name: 'm', uid: 'm', controller: true }
  const metadata = {
    name,
    uid: name,
    resourceVersion: String(moment++),
    labels: { [MODEL_UID_LABEL]: 'm', ...labels },
    ...(orphan ? {} : { ownerReferences: [owner] }),
    ...look,
  }
  return { apiVersion: 'v1', kind, metadata, ...more }
}

const readiness = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } })
const server = (version: string, isReady = true): KubeObject =>
  object(
    'Pod',
    `server-${version}`,
    { labels: { [ROLE_LABEL]: 'server', [VERSION_LABEL]: version } },
    readiness(isReady ? 'True' : 'False'),
  )

function router(weights: Readonly<Record<string, number>>, namespace = 'nowhere'): KubeObject {
  const route = Object.entries(weights).map(([version, weight]) => ({ version, weight, address: `${version}:80` }))
  const annotations = { [ROUTE_ANNOTATION]: JSON.stringify(route) }
  return object('Pod', 'router', { namespace, annotations, labels: { [ROLE_LABEL]: 'router' } })
}

const deployment = (version: string, availableReplicas = 1, namespace = 'nowhere', replicas = 1): KubeObject =>
  object(
    'Deployment',
    `m-${version}`,
    { namespace, labels: { [VERSION_LABEL]: version } },
    { spec: { replicas }, status: { availableReplicas } },
  )

const service = (version: string): KubeObject =>
  object('Service', `service-${version}`, { labels: { [VERSION_LABEL]: version } })

type Weights = Readonly<Record<string, number>>

function virtualService(weights: Weights): KubeObject {
  const route = Object.entries(weights).map(([subset, weight]) => ({ destination: { host: 'm', subset }, weight }))
  return object('VirtualService', 'm-vs', {}, { spec: { hosts: ['m'], http: [{ route }] } })
}

const destinationRule = (...subsets: readonly string[]): KubeObject =>
  object('DestinationRule', 'm-dr', {}, { spec: { host: 'm', subsets: subsets.map((name) => ({ name, labels: {} })) } })

/** In its `generation`, of which the Gateway has taken up `taken`. */
function httpRoute(weights: Weights, generation = 1, taken = generation): KubeObject {
  const backendRefs = Object.entries(weights).map(([version, weight]) => ({ name: `m-${version}`, weight }))
  const parents = [{ parentRef: { name: 'public' }, conditions: [{ type: 'Accepted', observedGeneration: taken }] }]
  const { metadata, ...rest } = object('HTTPRoute', 'route', { generation })
  return {
    ...rest,
    metadata: { ...metadata, name: 'm' },
    spec: { rules: [{ backendRefs }] },
    status: { parents },
  } as KubeObject
}

/** Versions that run. */
const running = (...names: readonly string[]) =>
  names.flatMap((name) => [server(name), service(name), deployment(name)].map((one) => ['created', one] as const))

const model = (status: object, generation = 1): KubeObject => {
  const { metadata, ...rest } = object('ModelDeployment', 'm', { generation })
  return { ...rest, metadata: { ...metadata, labels: {} }, status } as KubeObject
}

/** Shows the oracles a history, and gives the names of those who object. */
function verdicts(...history: readonly (readonly [Sighting['type'], KubeObject])[]): string[] {
  const objects = new Map<string, KubeObject>()
  const list = <T extends KubeObject>({ kind }: Resource<T>): readonly T[] =>
    [...objects.values()].filter((one) => one.kind === kind) as T[]
  const world: World = { all: () => [...objects.values()], list }
  const oracles = servingOracles()
  const found: string[] = []
  for (const [type, seen] of history) {
    const { uid = '' } = seen.metadata
    const previous = objects.get(uid)
    if (type === 'deleted') objects.delete(uid)
    else objects.set(uid, seen)
    for (const { name, see } of oracles)
      if (see?.({ type, object: seen, ...(previous && { previous }) }, world) !== undefined) found.push(name)
  }
  for (const { name, atRest } of oracles) found.push(...(atRest?.(world) ?? []).map(() => name))
  return found
}

test('an ordinary life offends nobody', () => {
  const history = [
    ['created', model({})],
    ...running('v1'),
    ['changed', router({ v1: 100 })],
    ['changed', model({ observedGeneration: 1, activeVersions: [{ name: 'v1', weight: 100 }] })],
    ...running('v2'),
    ['created', destinationRule('v1', 'v2')],
    ['created', virtualService({ v1: 50, v2: 50 })],
    ['created', httpRoute({ v1: 50, v2: 50 })],
    ['changed', virtualService({ v2: 100 })],
    ['changed', httpRoute({ v2: 100 }, 2, 1)],
    ['changed', httpRoute({ v2: 100 }, 2, 2)],
    ['deleted', service('v1')],
    ['deleted', deployment('v1')],
    ['changed', destinationRule('v2')],
    ['deleted', virtualService({ v2: 100 })],
    ['deleted', destinationRule('v2')],
  ] as const
  assert.deepEqual(verdicts(...history), [])
})

test('S1: a route that does not sum to 100, or has a weight outside of it', () => {
  assert.deepEqual(verdicts(...running('v1'), ['created', router({ v1: 90 })]), ['S1'])
  assert.deepEqual(verdicts(...running('v1', 'v2'), ['created', router({ v1: 110, v2: -10 })]), ['S1'])
  const ruled = [...running('v1'), ['created', destinationRule('v1')]] as const
  assert.deepEqual(verdicts(...ruled, ['created', virtualService({ v1: 90 })]), ['S1'])
  assert.deepEqual(verdicts(...running('v1'), ['created', httpRoute({ v1: 1 })]), ['S1'])
})

test('S2: weight for a version that is not ready', () => {
  const all = (): KubeObject[] => [router({ v1: 100 }), virtualService({ v1: 100 }), httpRoute({ v1: 100 })]
  for (const index of all().keys()) {
    const found = [service('v1'), destinationRule('v1')].map((one) => ['created', one] as const)
    const route = (): readonly ['created', KubeObject] => ['created', all()[index] as KubeObject]
    assert.deepEqual(verdicts(...found, ['created', server('v1', false)], route()), ['S2'])
    assert.deepEqual(verdicts(...found, route()), ['S2'])
    assert.deepEqual(verdicts(...found, ['created', server('v1')], route()), [])
  }
})

test('S2: weight for a version that has no Service, or that no subset tells apart', () => {
  assert.deepEqual(verdicts(['created', server('v1')], ['created', httpRoute({ v1: 100 })]), ['S2'])
  const ruled = [...running('v1', 'v2'), ['created', destinationRule('v1')]] as const
  assert.deepEqual(verdicts(...ruled, ['created', virtualService({ v1: 50, v2: 50 })]), ['S2'])
})

test('S2: what happened first counts, not what was seen first', () => {
  const found = ['created', service('v1')] as const
  const [early, ready, late] = [httpRoute({ v1: 100 }), server('v1'), httpRoute({ v1: 100 })]
  assert.deepEqual(verdicts(found, ['created', late], ['created', ready]), [])
  assert.deepEqual(verdicts(found, ['created', ready], ['created', early]), ['S2'])
})

test('S4: a version that goes while a router leads to it', async () => {
  const namespace = `place-${places++}`
  const alive = [
    ['created', model({})],
    ...running('v1', 'v2'),
    ['created', deployment('v1', 1, namespace)],
    ['created', deployment('v2', 1, namespace)],
  ] as const
  const routing = router({ v1: 50, v2: 50 }, namespace)
  const ends = (): (readonly [Sighting['type'], KubeObject])[] => [
    ['deleted', deployment('v1', 1, namespace)],
    ['changed', deployment('v1', 1, namespace, 0)],
  ]
  await routersOf(namespace).read([routing])
  for (const end of ends()) assert.deepEqual(verdicts(...alive, ['created', routing], end), ['S4'])
  for (const end of ends())
    assert.deepEqual(
      verdicts(...alive, ['created', routing], ['deleted', model({})], end),
      ['S4'],
      'the model went later',
    )
  await routersOf(namespace).read([router({ v1: 0, v2: 100 }, namespace)])
  for (const end of ends()) assert.deepEqual(verdicts(...alive, ['created', routing], end), [])
})

test('S4: a version that goes while a VirtualService or an HTTPRoute leads to it', () => {
  const alive = [['created', model({})], ...running('v1', 'v2'), ['created', destinationRule('v1', 'v2')]] as const
  const ends: readonly (() => readonly [Sighting['type'], KubeObject])[] = [
    () => ['deleted', deployment('v1')],
    () => ['deleted', service('v1')],
    () => ['changed', deployment('v1', 1, 'nowhere', 0)],
  ]
  const both = { v1: 50, v2: 50 }
  for (const end of ends) {
    assert.deepEqual(verdicts(...alive, ['created', virtualService(both)], end()), ['S4'])
    assert.deepEqual(verdicts(...alive, ['created', httpRoute(both)], end()), ['S4'])
    const left = ['changed', httpRoute({ v2: 100 }, 2, 1)] as const
    assert.deepEqual(verdicts(...alive, ['created', httpRoute(both)], left, end()), ['S4'], 'not taken up yet')
    const gone = ['deleted', model({})] as const
    assert.deepEqual(verdicts(...alive, ['created', virtualService(both)], gone, end()), [])
  }
})

test('S4: a subset that goes while a VirtualService leads to it', () => {
  const alive = [['created', model({})], ...running('v1', 'v2'), ['created', destinationRule('v1', 'v2')]] as const
  const led = ['created', virtualService({ v1: 50, v2: 50 })] as const
  assert.deepEqual(verdicts(...alive, led, ['changed', destinationRule('v2')]), ['S4'])
  assert.deepEqual(verdicts(...alive, led, ['deleted', destinationRule('v1', 'v2')]), ['S4'])
})

test('S4: what divides the traffic goes while the model is led by it', () => {
  const ways = {
    istio: [virtualService({ v1: 100 }), destinationRule('v1')],
    gateway: [httpRoute({ v1: 100 })],
    router: [object('Deployment', 'm-router', {})],
  }
  for (const [provider, objects] of Object.entries(ways))
    for (const [led, found] of [
      [provider, ['S4']],
      ['replicas', []],
    ] as const)
      for (const { metadata, ...rest } of objects) {
        const alive = ['created', model({ traffic: { provider: led } })] as const
        const last = { ...rest, metadata: { ...metadata, resourceVersion: String(moment++) } }
        assert.deepEqual(verdicts(alive, ['deleted', last]), found)
      }
})

test('S5: the last ready version is removed from a model that lives on', () => {
  const alive = [
    ['created', model({})],
    ['created', deployment('v1')],
    ['created', deployment('v2', 0)],
  ] as const
  assert.deepEqual(verdicts(...alive, ['deleted', deployment('v1')]), ['S5'])
  assert.deepEqual(verdicts(...alive, ['deleted', model({})], ['deleted', deployment('v1')]), [])
})

test('G2: something of ours that nobody controls', () => {
  assert.deepEqual(verdicts(['created', object('Service', 's', { orphan: true })]), ['G2'])
})

test('G3: a generation that is not there yet, or was there before; weights that are no whole; Ready without a pod', () => {
  assert.deepEqual(verdicts(['created', model({ observedGeneration: 2 })]), ['G3'])
  const back = [
    ['created', model({ observedGeneration: 2 }, 2)],
    ['changed', model({ observedGeneration: 1 }, 2)],
  ] as const
  assert.deepEqual(verdicts(...back), ['G3'])
  assert.deepEqual(verdicts(['created', model({ activeVersions: [{ name: 'v1', weight: 90 }] })]), ['G3'])
  const conditions = [{ type: 'Ready', status: 'True' }]
  assert.deepEqual(verdicts(['created', model({ conditions, activeVersions: [{ name: 'v1', weight: 100 }] })]), ['G3'])
})
