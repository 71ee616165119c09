/** The status of a model: the columns of `kubectl get md`, and when it is degraded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { planServing } from '../plan.ts'

const spec = { versions: [version('v1', 90), version('v2', 10)], scaling: { minReplicas: 2, maxReplicas: 2 } }

function columns({ model: { status } }: ServingCluster): unknown[] {
  return [status?.replicas, status?.ready, status?.weights, status?.requestRate, status?.url]
}

test('no column is empty before pods exist, and replicas are those of all versions', () => {
  const cluster = new ServingCluster(planServing, () => undefined, { spec })
  cluster.pass()
  const url = 'http://iris-service.team-a.svc:8080'
  assert.deepEqual(columns(cluster).slice(3), ['-', url])
  assert.match(String(columns(cluster)[1]), /^0\/\d+$/)
  assert.ok(calm(cluster, 40))
  const [replicas, ready, weights] = columns(cluster)
  assert.deepEqual([replicas, ready, weights], [4, '4/4', 'v1:90 v2:10'])
})

test('no column is empty where the runtime is missing, and ready pods are counted while the model is stuck', () => {
  const broken = new ServingCluster(planServing, () => undefined, { spec: { runtime: 'none', image: undefined } })
  broken.pass()
  assert.deepEqual(columns(broken), [0, '0/0', '-', '-', undefined])
  const cluster = new ServingCluster(planServing, () => undefined, { spec })
  assert.ok(calm(cluster, 40))
  cluster.edit({ ...spec, runtime: 'none', image: undefined })
  cluster.change('v2', () => 0)
  cluster.report('v2')
  cluster.pass()
  assert.deepEqual(columns(cluster).slice(0, 3), [4, '2/4', 'v1:90 v2:10'])
})

for (const [name, traffic, offers, fields] of [
  ['router', { provider: 'router', gateways: ['public'] }, [], 'router: spec.traffic.gateways;'],
  ['auto', { gateways: ['public'], hostnames: ['a.example.com'] }, [], 'gateways, spec.traffic.hostnames;'],
  ['gateway', { gateways: ['public'] }, ['gateway'], undefined],
  ['istio', { provider: 'istio', gateways: ['public'] }, ['istio'], undefined],
  ['no gateways', { provider: 'router' }, [], undefined],
] as const)
  test(`Limited names gateways that have no effect: ${name}`, () => {
    const cluster = new ServingCluster(planServing, () => undefined, { spec: { ...spec, traffic }, offers })
    assert.ok(calm(cluster, 40))
    const limited = cluster.model.status?.conditions?.find(({ type }) => type === 'Limited')
    assert.deepEqual(
      [limited?.status, limited?.message.includes(fields ?? '')],
      fields ? ['True', true] : [undefined, undefined],
    )
  })

test('a version that starts beside others is Progressing; one that was ready and is no longer is Degraded', () => {
  const one = { ...spec, versions: [version('v1', 100)] }
  const cluster = new ServingCluster(planServing, () => undefined, { spec: one })
  assert.ok(calm(cluster, 40))
  cluster.edit(spec)
  for (let pass = 0; pass < 5; pass += 1) {
    cluster.pass()
    cluster.control()
  }
  const progressing = cluster.model.status?.conditions?.find(({ type }) => type === 'Progressing')
  assert.deepEqual([cluster.model.status?.phase, progressing?.status], ['Running', 'True'])
  assert.ok(!cluster.events.includes('ModelDegraded'))
  assert.ok(calm(cluster, 40))
  cluster.change('v2', () => 0)
  cluster.report('v2')
  cluster.pass()
  cluster.pass()
  assert.equal(cluster.model.status?.phase, 'Degraded')
  assert.ok(cluster.events.includes('ModelDegraded'))
})
