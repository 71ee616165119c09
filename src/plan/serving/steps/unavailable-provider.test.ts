/** A provider that the cluster stops offering is left only when the next one is in effect. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { ServingOracles } from '../../../../test/sim/serving-oracles.ts'
import { getCondition } from '../../../api/conditions.ts'
import { ROLE_LABEL } from '../../model-names.ts'
import { planServing } from '../plan.ts'

const two = { versions: [version('v1', 60), version('v2', 40)] }

function served(traffic: object, offers: readonly string[]): ServingCluster {
  const oracles = new ServingOracles()
  const spec = { ...two, traffic }
  const cluster = new ServingCluster(planServing, (now, write) => oracles.check(now, write), { spec, offers })
  assert.ok(calm(cluster, 60))
  return cluster
}

const roleOf = ({ service }: ServingCluster) => service?.spec?.selector?.[ROLE_LABEL]

describe('the cluster stops offering', () => {
  const table: readonly (readonly [string, object])[] = [
    ['istio', { provider: 'auto' }],
    ['istio', { provider: 'istio' }],
    ['gateway', { provider: 'gateway', gateways: ['public'] }],
  ]
  for (const [provider, traffic] of table) {
    test(`${provider} (${JSON.stringify(traffic)}): the Service is switched when the router is in effect`, () => {
      const cluster = served(traffic, [provider])
      assert.equal(cluster.model.status?.traffic?.provider, provider)
      cluster.offer([])
      for (let pass = 0; pass < 5; pass += 1) {
        cluster.pass()
        assert.equal(roleOf(cluster), 'server', 'no router pod exists yet')
        assert.equal(getCondition(cluster.model.status.conditions, 'Ready')?.status, 'True')
      }
      assert.ok(calm(cluster, 60))
      assert.equal(cluster.model.status.traffic?.provider, 'router')
      assert.equal(roleOf(cluster), 'router')
    })

    test(`${provider} (${JSON.stringify(traffic)}) for a moment: nothing is switched and its routes stay`, () => {
      const cluster = served(traffic, [provider])
      const routes = JSON.stringify(cluster.of('VirtualService', 'DestinationRule', 'HTTPRoute'))
      cluster.denyOffers(() => {
        cluster.pass()
        cluster.pass()
      })
      assert.ok(calm(cluster, 60))
      assert.equal(cluster.model.status?.traffic?.provider, provider)
      assert.equal(roleOf(cluster), 'server')
      const rest = cluster.of('VirtualService', 'DestinationRule', 'HTTPRoute')
      assert.equal(JSON.stringify(rest), routes)
      assert.equal(cluster.objects.has('Deployment/iris-router'), false)
    })
  }
})
