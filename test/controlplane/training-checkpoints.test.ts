/** The pod that lists the checkpoints of a TrainingJob, on a real API server that enforces Pod Security `restricted`. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { Namespace, Pod } from '../../src/kube/resources.ts'
import { attemptOf, envOf, rankOf, succeedTogether, trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()
const FOUND =
  '{"latest":{"name":"step-7","step":7,"time":"2026-01-01T00:00:00.000Z"},"count":2,"pruned":1,"imported":false}'
const found: Decide = () => ({ exitCode: 0, message: FOUND })
const runs: Decide = () => undefined

async function setUp(t: TestContext, decide: Decide = runs) {
  const ns = await namespace(t)
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.patch(Namespace, { name: ns }, { metadata: { labels } })
  return trainingFixture(t, { cluster, client, node: node.name }, { namespace: ns, decide, resyncMs: 500 })
}

describe('checkpoints of a TrainingJob', { concurrency: true }, () => {
  test('the next attempt starts from what the pod found, and nothing is written at rest', async (t) => {
    const failsFirst: Decide = (pod) => (rankOf(pod) === '1' && attemptOf(pod) === 1 ? { exitCode: 1 } : undefined)
    const { create, reaches, pods, kubelet, audit, passesThrice, emits } = await setUp(t, failsFirst)
    kubelet.decideListing(found)
    await create()
    const job = await until('the second attempt to run', async () => {
      const now = await reaches('Running')
      return now.status?.attempts === 2 ? now : undefined
    })
    assert.equal(job.status?.checkpoint?.resumedFrom, '/checkpoints/step-7')
    assert.equal(job.status?.checkpoint?.count, 2)
    const workers = await pods()
    assert.deepEqual(
      workers.map((pod) => envOf(pod, 'RESUME_FROM_CHECKPOINT')),
      ['/checkpoints/step-7', '/checkpoints/step-7'],
    )
    await emits('CheckpointChosen')
    await passesThrice()
    await audit.take()
    await passesThrice()
    assert.deepEqual(await audit.take(), [])
  })

  test('a pod of others with that name is not touched; the job waits and says so', async (t) => {
    const { create, ns, condition, reaches, kubelet, change } = await setUp(t)
    kubelet.decideListing(found)
    const metadata = { namespace: ns, name: 'bert-checkpoints' }
    const container = {
      name: 'a',
      image: 'example.com/a',
      securityContext: {
        allowPrivilegeEscalation: false,
        runAsNonRoot: true,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' as const },
      },
    }
    await client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } })
    await create({ checkpoint: { resumeFrom: 's3://b/p' } })
    await until('the conflict', async () => (await condition('Conflict'))?.status === 'True')
    const { metadata: kept } = await client.get(Pod, metadata)
    assert.equal(kept.deletionTimestamp, undefined)
    await client.delete(Pod, metadata)
    kubelet.decide(succeedTogether(2))
    await change({ backoffLimit: 4 })
    await reaches('Completed')
  })

  test('a failure is in the status, and the deletion of the job ends the pod', async (t) => {
    const { create, key, job, pods, kubelet, disappears } = await setUp(t)
    kubelet.decideListing(() => ({ exitCode: 1, message: '{"error":"bucket b does not exist: correct resumeFrom"}' }))
    await create({ checkpoint: { resumeFrom: 's3://b/p' } })
    await until('the failure', async () =>
      /CheckpointsFailed: .*bucket b does not exist/.test((await job()).status?.reason ?? ''),
    )
    assert.equal((await pods()).filter((pod) => rankOf(pod) !== '').length, 0)
    kubelet.decideListing(runs)
    await client.delete(trainingJobs, key)
    await disappears(trainingJobs, key.name)
    assert.deepEqual(await pods(), [])
  })

  test('deleteOnCompletion empties the bucket before the job goes', async (t) => {
    const { create, key, kubelet, reaches, disappears } = await setUp(t, succeedTogether(2))
    const asked: string[] = []
    kubelet.decideListing((pod) => {
      asked.push(pod.spec?.containers[0]?.args?.[1] ?? '')
      return { exitCode: 0 }
    })
    await create({ checkpoint: { deleteOnCompletion: true, storage: { type: 's3', path: 's3://b/p' } } })
    await reaches('Completed')
    assert.equal(asked.length, 0)
    await client.delete(trainingJobs, key)
    await disappears(trainingJobs, key.name)
    assert.ok(asked.includes('checkpoints-delete'))
  })

  test('a job does not resume from itself', async (t) => {
    const { ns } = await setUp(t)
    await assert.rejects(
      client.create(trainingJobs, trainingJob(ns, 'self', { checkpoint: { resumeFrom: 'self' } })),
      /checkpoint.resumeFrom must not be the job itself/,
    )
  })
})
