/** Services reach pods through the name of their port, so a changed port rolls out without a gap. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ModelServer } from '../../../api/modelserver.v1.ts'
import type { RouteEntry } from '../../../api/router-report.ts'
import type { Deployment, Service } from '../../../kube/resources.ts'
import { ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { planServing } from '../plan.ts'

const runtime = (port: number): ModelServer => ({
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelServer',
  metadata: { name: 'own', namespace: 'team-a' },
  spec: { image: 'own:1', port, model: { mountPath: '/mnt/models', layout: 'file', readOnly: true } },
})

function served(spec: object, offers: readonly string[] = []): ServingCluster {
  const cluster = new ServingCluster(planServing, () => undefined, { spec: { runtime: 'own', ...spec }, offers })
  cluster.server = runtime(8080)
  assert.ok(calm(cluster, 60))
  return cluster
}

const portsOf = (cluster: ServingCluster): unknown[] =>
  cluster.of<Service>('Service').map(({ metadata, spec }) => {
    const [port] = spec?.ports ?? []
    return [metadata.name, port?.port, port?.targetPort]
  })

const containerPorts = (cluster: ServingCluster): unknown[] =>
  cluster.of<Deployment>('Deployment').map(({ metadata, spec }) => {
    const [port] = spec?.template.spec?.containers[0]?.ports ?? []
    return [metadata.name, port?.containerPort, port?.name]
  })

const one = { versions: [version('v1', 100)] }
const two = { versions: [version('v1', 60), version('v2', 40)] }

describe('a changed port of the ModelServer', () => {
  const providers: readonly (readonly [string, object, readonly string[]])[] = [
    ['direct', one, []],
    ['router', two, []],
    ['replicas', { ...two, traffic: { provider: 'replicas' } }, []],
    ['istio', two, ['istio']],
    ['gateway', { ...two, traffic: { provider: 'gateway', gateways: ['public'] } }, ['gateway']],
  ]
  for (const [provider, spec, offers] of providers) {
    test(`${provider}: moves the pods and leaves Services, routes and the URL unchanged`, () => {
      const cluster = served(spec, offers)
      assert.equal(cluster.model.status?.traffic?.provider, provider)
      const routes = JSON.stringify(cluster.of('VirtualService', 'HTTPRoute', 'ConfigMap'))
      const [services, url] = [portsOf(cluster), cluster.model.status.url]
      for (const [, port, targetPort] of services as [string, number, unknown][])
        assert.deepEqual([port, targetPort], [8080, 'http'])
      cluster.server = runtime(9090)
      assert.ok(calm(cluster, 60))
      assert.deepEqual(portsOf(cluster), services)
      assert.equal(cluster.model.status.url, url)
      assert.equal(JSON.stringify(cluster.of('VirtualService', 'HTTPRoute', 'ConfigMap')), routes)
      for (const [name, port, portName] of containerPorts(cluster) as [string, number, string][]) {
        assert.equal(portName, 'http', `${name} names the port that Services look for`)
        if (!name.endsWith('-router')) assert.equal(port, 9090)
      }
    })
  }

  test('a router keeps the address of each version', () => {
    const cluster = served(two)
    cluster.server = runtime(9090)
    assert.ok(calm(cluster, 60))
    const route = cluster.routers[0]?.effect as readonly RouteEntry[]
    assert.deepEqual(
      route.map(({ address }) => address),
      ['iris-v1:8080', 'iris-v2:8080'],
    )
  })

  test('before a URL is published, the port follows the runtime', () => {
    const cluster = new ServingCluster(planServing, () => undefined, { spec: { runtime: 'own', ...one } })
    cluster.server = runtime(8080)
    cluster.pass(2)
    assert.equal(cluster.model.status?.url, undefined)
    cluster.server = runtime(9090)
    assert.ok(calm(cluster, 60))
    assert.match(cluster.model.status?.url ?? '', /:9090$/)
    assert.ok(portsOf(cluster).every((found) => (found as unknown[])[1] === 9090))
  })
})
