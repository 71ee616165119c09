/** A TrainingJob that cannot start reports the cause in its status. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { Node, Pod } from '../../src/kube/resources.ts'
import { succeedTogether, trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { createPodQuota, resourceQuotas } from '../cluster/quota.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { type Decide, type FakeNode, fakeNode } from '../fakes/kubelet.ts'
import { ignoreMissing, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

async function setUp(t: TestContext, decide: Decide = () => undefined, { node: name = node.name } = {}) {
  return trainingFixture(t, { cluster, client, node: name }, { namespace: await namespace(t), decide })
}

/** The scheduler considers it, but no pod of another test gets there. */
async function taintedNode(t: TestContext): Promise<FakeNode> {
  const own = await fakeNode(client)
  t.after(() => own.remove())
  const taints = [{ key: 'test.example.com/nobody', effect: 'NoSchedule' }]
  await client.patch(Node, { name: own.name }, { spec: { unschedulable: null, taints } })
  return own
}

describe('a TrainingJob that cannot start reports', () => {
  test('an image that cannot be pulled', async (t) => {
    const { create, job } = await setUp(t, () => 'image-missing')
    await create()
    await until('the reason', async () => (await job()).status?.reason?.startsWith('ImagePullFailed'))
  })

  test('too few GPUs, with numbers', async (t) => {
    const gpuNode = await taintedNode(t)
    const allocatable = { 'nvidia.com/gpu': '4' }
    const status = { capacity: allocatable, allocatable }
    await client.patch(Node, { name: gpuNode.name }, { status }, { subresource: 'status' })
    const { create, runs, kubelet, ns } = await setUp(t, () => undefined, { node: gpuNode.name })
    await create({ numWorkers: 1, gpusPerWorker: 3 })
    await runs(1)
    await kubelet.stop()
    const scheduling = { schedulerName: 'nobody' }
    await client.create(trainingJobs, trainingJob(ns, 'large', { numWorkers: 1, gpusPerWorker: 8, scheduling }))
    const large = { namespace: ns, name: 'large' }
    t.after(() => client.patch(trainingJobs, large, { metadata: { finalizers: null } }).catch(ignoreMissing))
    const message = '0/9 nodes are available: 9 Insufficient nvidia.com/gpu.'
    const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
    const pod = { namespace: ns, name: 'large-workers-0' }
    await until('the scheduler to say so', () =>
      client.patch(Pod, pod, { status: { conditions: [unscheduled] } }, { subresource: 'status' }),
    )
    const expected =
      /^InsufficientGPU: 1 of 1 worker .* 8 nvidia.com\/gpu each; .* has 4, at most 1 .* 1 of 4 on the only node: 0\/9/
    await until('the reason', async () => expected.test((await client.get(trainingJobs, large)).status?.reason ?? ''))
  })

  test('a label that no node has', async (t) => {
    await taintedNode(t)
    const { create, job } = await setUp(t, () => 'unscheduled')
    const scheduling = { nodeSelector: { pool: 'of-nobody' } }
    await create({ numWorkers: 1, gpusPerWorker: 0, checkpoint: { enabled: false }, scheduling })
    const expected =
      /^NoMatchingNode: 1 of 1 worker waiting for a node; no node has the label pool=of-nobody \(scheduling.nodeSelector\): 0\//
    await until('the reason', async () => expected.test((await job()).status?.reason ?? ''))
  })

  test('a claim that no provisioner can bind, with the event that tells why', async (t) => {
    const { create, job, kubelet, emits } = await setUp(t)
    await kubelet.stop()
    await create({ numWorkers: 1, checkpoint: { storage: { storageClass: 'missing' } } })
    const expected =
      /^VolumeNotBound: PersistentVolumeClaim bert-checkpoints is not bound: ProvisioningFailed: storageclass.storage.k8s.io "missing" not found \(requested: ReadWriteOnce of StorageClass missing;/
    const status = await until(
      'the reason',
      async () => {
        const { status: seen } = await job()
        return expected.test(seen?.reason ?? '') ? seen : undefined
      },
      30_000,
    )
    assert.equal(status.state, 'Pending')
    await emits('VolumeNotBound')
  })

  test('an exceeded quota', async (t) => {
    const { create, job, ns, emits, kubelet, reaches } = await setUp(t)
    const quota = await createPodQuota(client, ns, 1)
    await create()
    await until('the reason', async () => (await job()).status?.reason?.startsWith('QuotaExceeded'))
    await emits('ReconcileFailed')
    kubelet.decide(succeedTogether(2))
    await client.delete(resourceQuotas, quota)
    await reaches('Completed')
  })
})
