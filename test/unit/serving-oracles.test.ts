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

const deployment = (version: string, availableReplicas = 1, namespace = 'nowhere'): KubeObject =>
  object(
    'Deployment',
    `m-${version}`,
    { namespace, labels: { [VERSION_LABEL]: version } },
    { status: { availableReplicas } },
  )

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
    ['created', server('v1')],
    ['created', deployment('v1')],
    ['changed', router({ v1: 100 })],
    ['changed', model({ observedGeneration: 1, activeVersions: [{ name: 'v1', weight: 100 }] })],
  ] as const
  assert.deepEqual(verdicts(...history), [])
})

test('S1: a route that does not sum to 100, or has a weight outside of it', () => {
  assert.deepEqual(verdicts(['created', server('v1')], ['created', router({ v1: 90 })]), ['S1'])
  const both = [
    ['created', server('v1')],
    ['created', server('v2')],
  ] as const
  assert.deepEqual(verdicts(...both, ['created', router({ v1: 110, v2: -10 })]), ['S1'])
})

test('S2: weight for a version that is not ready', () => {
  assert.deepEqual(verdicts(['created', server('v1', false)], ['created', router({ v1: 100 })]), ['S2'])
  assert.deepEqual(verdicts(['created', router({ v1: 100 })]), ['S2'])
})

test('S4: a version that goes while a router leads to it', async () => {
  const namespace = `place-${places++}`
  const routing = router({ v1: 50, v2: 50 }, namespace)
  const alive = [
    ['created', model({})],
    ['created', server('v1')],
    ['created', server('v2')],
    ['created', deployment('v1', 1, namespace)],
    ['created', deployment('v2', 1, namespace)],
    ['created', routing],
  ] as const
  await routersOf(namespace).read([routing])
  assert.deepEqual(verdicts(...alive, ['deleted', deployment('v1', 1, namespace)]), ['S4'])
  await routersOf(namespace).read([router({ v1: 0, v2: 100 }, namespace)])
  assert.deepEqual(verdicts(...alive, ['deleted', deployment('v1', 1, namespace)]), [])
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
