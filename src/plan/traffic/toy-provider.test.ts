/** A provider that exists in this test only: one file, registered, keeps the contract and serves a model. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { trafficProviderContract, NOTHING } from '../../../test/contracts/traffic-provider.ts'
import { ServingCluster, version } from '../../../test/sim/serving-cluster.ts'
import { calm } from '../../../test/sim/serving-history.ts'
import { ServingOracles } from '../../../test/sim/serving-oracles.ts'
import type { KubeObject, Resource } from '../../kube/object.ts'
import { modelObject } from '../model-object.ts'
import { planServing } from '../serving/plan.ts'
import type { ProviderName, TrafficObserved, TrafficProvider, TrafficTarget } from './contract.ts'
import { allServers, hasRoute, observedOf } from './providers/route-object.ts'
import { providers } from './providers/providers.ts'
import { weighted } from './providers/weighted.ts'
import type { Weights } from './weights.ts'

interface ToyRoute extends KubeObject {
  readonly spec: { readonly weights: Readonly<Record<string, number>> }
}

const ToyRoute: Resource<ToyRoute> = {
  group: 'toys.example.com',
  version: 'v1',
  kind: 'ToyRoute',
  plural: 'toyroutes',
  namespaced: true,
}

const nameOf = ({ name }: TrafficTarget): string => `${name}-toy`

function render(target: TrafficTarget) {
  const weights = Object.fromEntries(target.backends.map((one) => [one.version, one.weight]))
  const route: ToyRoute = { ...modelObject(target, ToyRoute, nameOf(target)), spec: { weights } }
  return { apply: [route], annotate: [], selector: allServers(target) }
}

function inEffect(target: TrafficTarget, observed: TrafficObserved): Weights | undefined {
  const route = observedOf(observed, ToyRoute, nameOf(target))
  return route && new Map(Object.entries(route.spec.weights))
}

const TOY = 'toy' as ProviderName

const toy: TrafficProvider = {
  ...weighted,
  name: TOY,
  kinds: [{ resource: ToyRoute }],
  permission: 'Split the traffic of a model, on clusters with toys.',
  defaults: {},
  suits: ({ isSplit }) => isSplit,
  recognises: (entrance) => hasRoute(entrance, ToyRoute),
  render,
  inEffect,
}

const registry = providers.with(toy)

trafficProviderContract(
  toy,
  {
    asked: ({ apply }) => new Map(Object.entries((apply[0] as ToyRoute).spec.weights)),
    settled: ({ apply }) => ({ ...NOTHING, routes: apply }),
    converging: () => [NOTHING],
  },
  registry,
)

describe('a registered provider', () => {
  const split = { versions: [version('v1', 60), version('v2', 40)] }

  function served(spec: object, offers: readonly string[]): ServingCluster {
    const oracles = new ServingOracles()
    const planner = (observed: Parameters<typeof planServing>[0]) => planServing(observed, registry)
    const judge = (cluster: ServingCluster, write: Parameters<ServingOracles['check']>[1]) =>
      oracles.check(cluster, write)
    const cluster = new ServingCluster(planner, judge, { spec, offers, registry })
    assert.ok(calm(cluster, 60))
    return cluster
  }
  const weightsIn = (cluster: ServingCluster) => cluster.of<ToyRoute>('ToyRoute').map(({ spec }) => spec.weights)

  test('is the choice of auto where it suits and the cluster has its kind', () => {
    const cluster = served(split, [TOY])
    assert.equal(cluster.model.status?.traffic?.provider, TOY)
    assert.deepEqual(weightsIn(cluster), [{ v1: 60, v2: 40 }])
    assert.equal(served(split, []).model.status?.traffic?.provider, 'router')
  })

  test('is switched to and from, and leaves nothing behind', () => {
    const cluster = served({ versions: [version('v1', 100)] }, [TOY])
    assert.equal(cluster.model.status?.traffic?.provider, 'direct')
    cluster.edit(split)
    assert.ok(calm(cluster, 60))
    assert.equal(cluster.model.status.traffic?.provider, TOY)
    cluster.edit({ traffic: { provider: 'router' } })
    assert.ok(calm(cluster, 60))
    assert.equal(cluster.model.status.traffic.provider, 'router')
    assert.deepEqual(weightsIn(cluster), [])
  })

  test('is reported by its missing kind when the spec names it and the cluster lacks it', () => {
    const cluster = served({ ...split, traffic: { provider: TOY } }, [])
    assert.equal(cluster.model.status?.traffic?.provider, 'router')
    assert.match(cluster.model.status.message ?? '', /does not serve the kind ToyRoute, so toy /)
  })

  test('has its kind watched and permitted like any other', () => {
    assert.ok(registry.kinds.some(({ resource }) => resource === ToyRoute))
    assert.equal(providers.kinds.length, registry.kinds.length - 1)
  })
})
