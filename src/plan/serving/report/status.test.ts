/** The columns of `kubectl get md`. */
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
