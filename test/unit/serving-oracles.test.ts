/** Each serving oracle of the crash tests is given a history that violates it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import {
  deployment,
  destinationRule,
  httpRoute,
  model,
  nextVersion,
  object,
  router,
  running,
  server,
  service,
  violated,
  virtualService,
} from '../builders/model-history.ts'
import type { ObservedChange } from '../crash/oracles/oracle.ts'
import { routersOf } from '../crash/harness/serving-harness.ts'

let namespaces = 0

test('accepts a correct history', () => {
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
  assert.deepEqual(violated(...history), [])
})

test('S1: a route that does not sum to 100, or has a weight outside 0 to 100', () => {
  assert.deepEqual(violated(...running('v1'), ['created', router({ v1: 90 })]), ['S1'])
  assert.deepEqual(violated(...running('v1', 'v2'), ['created', router({ v1: 110, v2: -10 })]), ['S1'])
  const ruled = [...running('v1'), ['created', destinationRule('v1')]] as const
  assert.deepEqual(violated(...ruled, ['created', virtualService({ v1: 90 })]), ['S1'])
  assert.deepEqual(violated(...running('v1'), ['created', httpRoute({ v1: 1 })]), ['S1'])
})

test('S2: weight for a version that is not ready', () => {
  const all = (): KubeObject[] => [router({ v1: 100 }), virtualService({ v1: 100 }), httpRoute({ v1: 100 })]
  for (const index of all().keys()) {
    const found = [service('v1'), destinationRule('v1')].map((one) => ['created', one] as const)
    const route = (): readonly ['created', KubeObject] => ['created', all()[index] as KubeObject]
    assert.deepEqual(violated(...found, ['created', server('v1', false)], route()), ['S2'])
    assert.deepEqual(violated(...found, route()), ['S2'])
    assert.deepEqual(violated(...found, ['created', server('v1')], route()), [])
  }
})

test('S2: weight for a version without a Service or a subset', () => {
  assert.deepEqual(violated(['created', server('v1')], ['created', httpRoute({ v1: 100 })]), ['S2'])
  const ruled = [...running('v1', 'v2'), ['created', destinationRule('v1')]] as const
  assert.deepEqual(violated(...ruled, ['created', virtualService({ v1: 50, v2: 50 })]), ['S2'])
})

test('S2: the order of the store counts, not the order of observation', () => {
  const found = ['created', service('v1')] as const
  const [early, ready, late] = [httpRoute({ v1: 100 }), server('v1'), httpRoute({ v1: 100 })]
  assert.deepEqual(violated(found, ['created', late], ['created', ready]), [])
  assert.deepEqual(violated(found, ['created', ready], ['created', early]), ['S2'])
})

test('S4: a version that is removed while a router routes to it', async () => {
  const namespace = `namespace-${namespaces++}`
  const existing = [
    ['created', model({})],
    ...running('v1', 'v2'),
    ['created', deployment('v1', 1, namespace)],
    ['created', deployment('v2', 1, namespace)],
  ] as const
  const routing = router({ v1: 50, v2: 50 }, namespace)
  const ends = (): (readonly [ObservedChange['type'], KubeObject])[] => [
    ['deleted', deployment('v1', 1, namespace)],
    ['changed', deployment('v1', 1, namespace, 0)],
  ]
  await routersOf(namespace).read([routing])
  for (const end of ends()) assert.deepEqual(violated(...existing, ['created', routing], end), ['S4'])
  for (const end of ends())
    assert.deepEqual(
      violated(...existing, ['created', routing], ['deleted', model({})], end),
      ['S4'],
      'the model was deleted afterwards',
    )
  await routersOf(namespace).read([router({ v1: 0, v2: 100 }, namespace)])
  for (const end of ends()) assert.deepEqual(violated(...existing, ['created', routing], end), [])
})

test('S4: a version that is removed while a VirtualService or an HTTPRoute routes to it', () => {
  const existing = [['created', model({})], ...running('v1', 'v2'), ['created', destinationRule('v1', 'v2')]] as const
  const ends: readonly (() => readonly [ObservedChange['type'], KubeObject])[] = [
    () => ['deleted', deployment('v1')],
    () => ['deleted', service('v1')],
    () => ['changed', deployment('v1', 1, 'nowhere', 0)],
  ]
  const both = { v1: 50, v2: 50 }
  for (const end of ends) {
    assert.deepEqual(violated(...existing, ['created', virtualService(both)], end()), ['S4'])
    assert.deepEqual(violated(...existing, ['created', httpRoute(both)], end()), ['S4'])
    const left = ['changed', httpRoute({ v2: 100 }, 2, 1)] as const
    assert.deepEqual(violated(...existing, ['created', httpRoute(both)], left, end()), ['S4'], 'not accepted yet')
    const deleted = ['deleted', model({})] as const
    assert.deepEqual(violated(...existing, ['created', virtualService(both)], deleted, end()), [])
  }
})

test('S4: a subset that is removed while a VirtualService routes to it', () => {
  const existing = [['created', model({})], ...running('v1', 'v2'), ['created', destinationRule('v1', 'v2')]] as const
  const routed = ['created', virtualService({ v1: 50, v2: 50 })] as const
  assert.deepEqual(violated(...existing, routed, ['changed', destinationRule('v2')]), ['S4'])
  assert.deepEqual(violated(...existing, routed, ['deleted', destinationRule('v1', 'v2')]), ['S4'])
})

test('S4: objects of a provider that are deleted while it is in effect', () => {
  const children = {
    istio: [virtualService({ v1: 100 }), destinationRule('v1')],
    gateway: [httpRoute({ v1: 100 })],
    router: [object('Deployment', 'm-router', {})],
  }
  for (const [provider, objects] of Object.entries(children))
    for (const [inEffect, found] of [
      [provider, ['S4']],
      ['replicas', []],
    ] as const)
      for (const { metadata, ...rest } of objects) {
        const existing = ['created', model({ traffic: { provider: inEffect } })] as const
        const last = { ...rest, metadata: { ...metadata, resourceVersion: nextVersion() } }
        assert.deepEqual(violated(existing, ['deleted', last]), found)
      }
})

test('S5: the last ready version is removed while the model exists', () => {
  const existing = [
    ['created', model({})],
    ['created', deployment('v1')],
    ['created', deployment('v2', 0)],
  ] as const
  assert.deepEqual(violated(...existing, ['deleted', deployment('v1')]), ['S5'])
  assert.deepEqual(violated(...existing, ['deleted', model({})], ['deleted', deployment('v1')]), [])
})

const IMAGE = 'iris:1'

/** A Deployment of a version, or its validation Job, with this image. */
function withImage(kind: 'Deployment' | 'Job', image: string, status: object = {}): KubeObject {
  const role = kind === 'Job' ? { [ROLE_LABEL]: 'validation' } : {}
  const spec = { template: { spec: { containers: [{ name: 'main', image, env: [] }] } } }
  return object(kind, `${kind}-v1-${image}`, { labels: { [VERSION_LABEL]: 'v1', ...role } }, { spec, status })
}

const ended = (type: string) => ({ conditions: [{ type, status: 'True' }] })

test('S7: a version runs what has not passed its validation', () => {
  const validated = ['created', model({}, 1, { validation: { script: 'validate.py' } })] as const
  const passed = ['changed', withImage('Job', IMAGE, ended('Complete'))] as const
  const later = () => ['created', withImage('Deployment', IMAGE)] as const
  assert.deepEqual(violated(validated, passed, later()), [])
  assert.deepEqual(violated(validated, later()), ['S7'])
  assert.deepEqual(violated(validated, ['created', withImage('Job', IMAGE)], later()), ['S7'], 'still running')
  assert.deepEqual(violated(validated, ['changed', withImage('Job', IMAGE, ended('Failed'))], later()), ['S7'])
  const other = ['created', withImage('Deployment', 'iris:2')] as const
  assert.deepEqual(violated(validated, passed, other), ['S7'], 'another image')
  assert.deepEqual(violated(['created', model({})], later()), [], 'no validation is asked for')
})

test('G2: a child without a controller', () => {
  assert.deepEqual(violated(['created', object('Service', 's', { orphan: true })]), ['G2'])
})

test('G3: an observedGeneration ahead or decreasing, weights that do not sum to 100, Ready without a pod', () => {
  assert.deepEqual(violated(['created', model({ observedGeneration: 2 })]), ['G3'])
  const back = [
    ['created', model({ observedGeneration: 2 }, 2)],
    ['changed', model({ observedGeneration: 1 }, 2)],
  ] as const
  assert.deepEqual(violated(...back), ['G3'])
  assert.deepEqual(violated(['created', model({ activeVersions: [{ name: 'v1', weight: 90 }] })]), ['G3'])
  const conditions = [{ type: 'Ready', status: 'True' }]
  const ready = model({ conditions, activeVersions: [{ name: 'v1', weight: 100 }] })
  assert.deepEqual(violated(['created', ready]), ['G3', 'G3'], 'neither a pod nor an endpoint')
})

test('S8: a server that is evicted without a record, or as the last ready one', () => {
  const marked = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }
  const named = (name: string, conditions: readonly object[]): KubeObject =>
    object('Pod', name, { labels: { [ROLE_LABEL]: 'server', [VERSION_LABEL]: 'v1' } }, { status: { conditions } })
  const ready = { type: 'Ready', status: 'True' }
  const recording = (uid: string) => model({ activeVersions: [{ name: 'v1', health: { evicting: { uid } } }] })
  const history = (uid: string, others: readonly KubeObject[]) =>
    [
      ['created', recording(uid)],
      ...others.map((pod) => ['created', pod] as const),
      ['created', named('a', [ready])],
      ['changed', named('a', [ready, marked])],
      ['changed', named('a', [ready, marked])],
    ] as const
  assert.deepEqual(violated(...history('a', [named('b', [ready])])), [])
  assert.deepEqual(violated(...history('b', [named('b', [ready])])), ['S8'])
  assert.deepEqual(violated(...history('a', [])), ['S8'])
})
