/** A quota with room for only a part of a gang. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiCluster } from '../cluster/api-cluster.ts'
import { createPodQuota, resourceQuotas } from '../cluster/quota.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { attemptOf, succeedTogether } from '../builders/training-job.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

test('removes a gang that does not fit into the quota, and retries it as a whole', async (t) => {
  const ns = await namespace(t)
  const quota = await createPodQuota(client, ns, 1)
  const fixture = trainingFixture(
    t,
    { cluster, client, node: node.name },
    {
      namespace: ns,
      config: { backoffLimitMs: 500 },
      decide: () => ({ exitCode: 0 }),
    },
  )
  const { create, job, kubelet, reaches, pods } = fixture
  await create({ numWorkers: 2, backoffLimit: 0 })
  const { status } = await until('three attempts', async () => {
    const found = await job()
    return (found.status?.attempts ?? 0) >= 3 ? found : undefined
  })
  assert.match(status?.reason ?? '', /^QuotaExceeded: /)
  assert.deepEqual([status?.failures, status?.workers?.succeeded, status?.completionTime], [0, 0, undefined])
  kubelet.decide(succeedTogether(2))
  await client.delete(resourceQuotas, quota)
  const ended = await reaches('Completed')
  const attempts = (await pods()).map(attemptOf)
  assert.deepEqual([ended.status?.failures, attempts], [0, [ended.status?.attempts, ended.status?.attempts]])
})
