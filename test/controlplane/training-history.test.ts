/** What is kept of a job after its end, on a real API server. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { ConfigMap, type Pod } from '../../src/kube/resources.ts'
import { endOne, succeedTogether } from '../builders/training-job.ts'
import { historyIn } from '../builders/history.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()
const HISTORY = `${NAME}-history`

interface Setup {
  readonly retention?: 'WithJob' | 'Keep'
  readonly enabled?: boolean
  readonly failureLogs?: boolean
}

async function setUp(t: TestContext, decide: Decide, { retention, enabled = true, failureLogs = true }: Setup = {}) {
  const ns = await namespace(t)
  const history = { enabled, ...(retention && { retention }) }
  const readLog = async (pod: Pod, lines: number) => `${pod.metadata.name} ${lines} lines\nend`
  const config = { history, failureLogs }
  const options = { namespace: ns, decide, config, readLog, resyncMs: 300 }
  const fixture = trainingFixture(t, { cluster, client, node: node.name }, options)
  const key = { namespace: ns, name: HISTORY }
  return {
    ...fixture,
    history: () => client.get(ConfigMap, key),
    exists: () => until('the history', () => client.get(ConfigMap, key).catch(() => undefined)),
  }
}

describe('the history of a TrainingJob', { concurrency: true }, () => {
  test('has status, attempts and logs, also of pods that were cleaned up', async (t) => {
    const fails = endOne({ exitCode: 1 }, { rank: 1, attempt: 1, size: 2 })
    const { create, reaches, exists, disappears, pods } = await setUp(t, fails)
    await create({ cleanPodPolicy: 'All' })
    const { metadata, status } = await reaches('Completed')
    const kept = await exists()
    assert.equal(kept.metadata.ownerReferences?.[0]?.uid, metadata.uid)
    await until('the pods to be gone', async () => (await pods()).length === 0)
    const { uid, logs, status: final } = historyIn(kept)
    assert.deepEqual([uid, final.state, final.attempts], [metadata.uid, 'Completed', 2])
    assert.deepEqual(
      final.attemptHistory?.map(({ attempt, reason }) => `${attempt} ${reason}`),
      ['1 Error', '2 TrainingCompleted'],
    )
    assert.deepEqual(final.attemptHistory[0]?.failedNodes, [node.name])
    assert.deepEqual(
      logs.map(({ attempt, index, log }) => `${attempt} ${index} ${log}`),
      [`1 1 ${NAME}-workers-1 200 lines\nend`, `2 0 ${NAME}-workers-0 200 lines\nend`],
    )
    assert.deepEqual(status?.history, { configMapName: HISTORY })
    await client.delete(trainingJobs, { namespace: metadata.namespace ?? '', name: NAME })
    await disappears(ConfigMap, HISTORY)
  })

  for (const enabled of [true, false])
    test(`costs ${enabled ? 'exactly one write' : 'nothing if it is off'}`, async (t) => {
      const { create, reaches, exists, audit, passesThrice } = await setUp(t, succeedTogether(2), { enabled })
      await create({ checkpoint: { enabled: false } })
      await reaches('Completed')
      if (enabled) await exists()
      await passesThrice()
      const writes = await audit.take()
      const ofHistory = writes.filter((write) => write.includes('configmaps'))
      assert.equal(ofHistory.length, enabled ? 1 : 0, writes.join('\n'))
    })

  test('has no logs if the administrator hides them', async (t) => {
    const { create, exists } = await setUp(t, succeedTogether(2), { failureLogs: false })
    await create()
    assert.deepEqual(historyIn(await exists()).logs, [])
  })

  test('a ConfigMap of somebody else is not changed, and does not keep the pods', async (t) => {
    const { create, reaches, history, pods, emits, ns, job } = await setUp(t, succeedTogether(2))
    const metadata = { name: HISTORY, namespace: ns }
    await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mine: 'yes' } })
    await create({ cleanPodPolicy: 'All' })
    await reaches('Completed')
    await emits('Conflict')
    await until('the pods to be gone', async () => (await pods()).length === 0)
    assert.match((await job()).status?.history?.message ?? '', /^Conflict: ConfigMap\/bert-history already exists/)
    assert.deepEqual((await history()).data, { mine: 'yes' })
  })

  test('is retained by policy until another job of the name ends, and outlives its job', async (t) => {
    const { create, history, exists, disappears, pods } = await setUp(t, succeedTogether(2), { retention: 'Keep' })
    await create({ ttlSecondsAfterFinished: 0 })
    const first = await exists()
    assert.equal(first.metadata.ownerReferences, undefined)
    await disappears(trainingJobs, NAME)
    await until('the pods to be gone', async () => (await pods()).length === 0)
    const { metadata } = await create({ cleanPodPolicy: 'None' })
    await until('the history of the second job', async () => historyIn(await history()).uid === metadata.uid)
  })
})
