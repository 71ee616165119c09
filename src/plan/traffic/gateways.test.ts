/** Gateways of other namespaces: which ones a model may name, and what names them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServingCluster, version } from '../../../test/sim/serving-cluster.ts'
import { calm } from '../../../test/sim/serving-history.ts'
import { getCondition } from '../../api/conditions.ts'
import { planServing } from '../serving/index.ts'
import { allowedExposure } from './exposure.ts'
import { usableGateways } from './gateways.ts'
import { gateway } from './providers/gateway/gateway.ts'
import type { HTTPRoute } from './providers/gateway/kinds.ts'
import type { VirtualService } from './providers/istio/kinds.ts'

const rules = [
  { namespaces: ['team-a'], gateways: ['infra/public'] },
  { namespaces: ['*'], gateways: ['shared/*'] },
]

const table: readonly (readonly [string, string, boolean])[] = [
  ['team-a', 'public', true],
  ['team-a', 'team-a/public', true],
  ['team-a', 'infra/public', true],
  ['team-a', 'infra/internal', false],
  ['team-a', 'shared/any', true],
  ['team-a', 'shared-b/any', false],
  ['team-a', 'team-b/public', false],
  ['team-b', 'infra/public', false],
  ['team-b', 'shared/any', true],
]

describe('rules of the administrator', () => {
  for (const [namespace, name, isAllowed] of table)
    test(`${namespace} ${isAllowed ? 'may' : 'may not'} use ${name}`, () => {
      const { gateways, problem } = usableGateways([name], namespace, rules)
      assert.deepEqual(gateways.length, isAllowed ? 1 : 0)
      if (!isAllowed) assert.match(problem ?? '', /^spec\.traffic\.gateways: .* is not allowed, since serving\.allowed/)
      assert.equal(usableGateways([name], namespace, []).problem, undefined, 'without rules any is allowed')
    })

  test('the own namespace is left out, and each Gateway is named once', () => {
    const { gateways } = usableGateways(
      ['mesh', 'public', 'team-a/public', 'infra/public', 'team-a/mesh'],
      'team-a',
      [],
    )
    assert.deepEqual(gateways, ['public', 'infra/public', 'team-a/mesh'])
  })

  test('without a Gateway left there are no host names either', () => {
    const traffic = { gateways: ['team-b/public'], hostnames: ['model.example.com'] }
    const { problem, ...exposure } = allowedExposure(traffic, 'team-a', {
      allowedHostnames: [],
      allowedGateways: rules,
    })
    assert.deepEqual(exposure, { hasForeignGateway: true })
    assert.match(problem ?? '', /team-b\/public is not allowed.*infra\/public, shared\/\*/)
  })
})

describe('a model with a Gateway of another namespace', () => {
  const versions = [version('v1', 60), version('v2', 40)]
  const hostnames = ['model.example.com']
  const served = (traffic: object, offers: readonly string[]): ServingCluster => {
    const cluster = new ServingCluster(planServing, () => undefined, { spec: { versions, traffic }, offers })
    assert.ok(calm(cluster, 60))
    return cluster
  }

  test('gateway: only the reference names the namespace', () => {
    const cluster = served({ provider: 'gateway', gateways: ['public', 'infra/public'], hostnames }, ['gateway'])
    const [route] = cluster.of<HTTPRoute>('HTTPRoute')
    const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'public' }
    assert.deepEqual(route?.spec.parentRefs, [parent, { ...parent, namespace: 'infra' }])
    assert.equal(route.metadata.namespace, cluster.model.metadata.namespace)
  })

  test('istio: the gateways of the second VirtualService name the namespace', () => {
    const cluster = served({ provider: 'istio', gateways: ['infra/public'], hostnames }, ['istio'])
    const routes = cluster.of<VirtualService>('VirtualService')
    assert.deepEqual(
      routes.map(({ spec }) => spec.gateways),
      [undefined, ['infra/public']],
    )
    assert.ok(routes.every(({ metadata }) => metadata.namespace === cluster.model.metadata.namespace))
  })

  const target = {
    name: 'iris',
    backends: versions.map(({ name, weight }) => ({ version: name, service: `iris-${name}`, weight })),
  } as unknown as Parameters<typeof gateway.inEffect>[0]
  const inEffect = (route: HTTPRoute) => gateway.inEffect(target, { routes: [route] } as never)
  const routeOf = (gateways: readonly string[]): HTTPRoute => {
    const [route] = served({ provider: 'gateway', gateways, hostnames }, ['gateway']).of<HTTPRoute>('HTTPRoute')
    assert.ok(route)
    assert.deepEqual(inEffect(route), new Map(versions.map(({ name, weight }) => [name, weight])))
    return route
  }

  test('an acceptance by the Gateway of the same name in another namespace does not count', () => {
    const route = routeOf(['infra/public'])
    const parents = route.status?.parents?.map((one) => {
      const { namespace: _gone, ...parentRef } = one.parentRef
      return { ...one, parentRef }
    })
    assert.equal(inEffect({ ...route, status: { parents: parents ?? [] } }), undefined)
  })

  const rejection = (name: string, observedGeneration = 1) => ({
    parentRef: { name },
    conditions: [
      { type: 'Accepted', status: 'False', observedGeneration },
      { type: 'ResolvedRefs', status: 'True', observedGeneration },
    ],
  })

  test('one of two Gateways that rejects the route, or says nothing, keeps it from being in effect', () => {
    const route = routeOf(['public', 'closed'])
    const others = (route.status?.parents ?? []).filter(({ parentRef }) => parentRef.name === 'public')
    const rejected = rejection('closed', route.metadata.generation)
    assert.equal(inEffect({ ...route, status: { parents: [...others, rejected] } }), undefined)
    assert.equal(inEffect({ ...route, status: { parents: others } }), undefined)
  })

  test('what a Gateway said that the route no longer names does not count: Envoy Gateway leaves it there', () => {
    const route = routeOf(['public'])
    const parents = [...(route.status?.parents ?? []), rejection('closed')]
    assert.ok(inEffect({ ...route, status: { parents } }))
  })
})

test('a Gateway that is not allowed is left out, with a reason of its own', () => {
  const traffic = { provider: 'gateway', gateways: ['public', 'infra/public'], hostnames: ['model.example.com'] }
  const spec = { versions: [version('v1', 60), version('v2', 40)], traffic }
  const allowedGateways = [{ namespaces: ['*'], gateways: ['shared/*'] }]
  const planned: typeof planServing = (observed) =>
    planServing({ ...observed, config: { ...observed.config, allowedGateways } })
  const cluster = new ServingCluster(planned, () => undefined, { spec, offers: ['gateway'] })
  assert.ok(calm(cluster, 60))
  const [route] = cluster.of<HTTPRoute>('HTTPRoute')
  assert.deepEqual(
    route?.spec.parentRefs?.map(({ name, namespace }) => [name, namespace]),
    [['public', undefined]],
  )
  assert.equal(getCondition(cluster.model.status?.conditions, 'Progressing')?.reason, 'GatewayNotAllowed')
})
