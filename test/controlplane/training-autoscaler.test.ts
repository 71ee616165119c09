/** A real HorizontalPodAutoscaler scales an elastic TrainingJob by the usage of its workers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Event, HorizontalPodAutoscaler, Namespace } from '../../src/kube/resources.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { PodMetrics } from '../fakes/pod-metrics.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await ownCluster()
const NS = 'team-a'

const autoscaler = (maxReplicas: number): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: NAME, namespace: NS },
  spec: {
    scaleTargetRef: { apiVersion: 'ml.example.com/v1', kind: 'TrainingJob', name: NAME },
    minReplicas: 1,
    maxReplicas,
    metrics: [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  },
})

test('an autoscaler changes the size once, and one that changes its mind does not restart the workers again', async (t) => {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } })
  const metrics = new PodMetrics(client)
  await metrics.start()
  t.after(() => metrics.stop())
  const options = { namespace: NS, config: { resizeIntervalMs: 3_600_000 } }
  const { create, runs, job } = trainingFixture(t, { cluster, client, node: node.name }, options)
  await create({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 }, checkpoint: { enabled: false } })
  await runs(2)
  metrics.usage = '2Gi'
  await client.create(HorizontalPodAutoscaler, autoscaler(8))

  await runs(4)
  const grown = await until('the new size to be reported', async () => {
    const { status } = await job()
    return status?.state === 'Running' && status.worldSize === 4 ? status : undefined
  })
  assert.deepEqual([grown.attempts, grown.failures, grown.resize], [2, 0, undefined])
  assert.ok([...metrics.selectors].includes(grown.selector ?? ''), 'by the selector of the scale subresource')
  await until('a size beyond the bounds to be rejected', async () =>
    (await client.list(Event, { namespace: NS })).items.find(
      ({ note = '' }) => /elastic.maxWorkers/.test(note) || /numWorkers must be between/.test(note),
    ),
  )

  metrics.usage = '100Mi'
  const limited = await until('the next change to wait', async () => (await job()).status?.resize)
  const { desired, current, reason } = limited
  assert.deepEqual({ desired, current, reason }, { desired: 1, current: 4, reason: 'RateLimited' })
  metrics.usage = '1Gi'
  await client.patch(HorizontalPodAutoscaler, { namespace: NS, name: NAME }, { spec: { minReplicas: 4 } })
  await until('the change to be withdrawn', async () => (await job()).status?.resize === undefined)
  const { status } = await job()
  assert.deepEqual([status?.attempts, status?.worldSize, status?.restarts], [2, 4, 1])
})
