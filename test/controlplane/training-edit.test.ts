/** A job that cannot start is fixed by an edit of its spec. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Pod } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { attemptOf, succeedTogether } from '../builders/training-job.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const imageOf = ({ spec }: Pod): string | undefined => spec?.containers[0]?.image
const isWrong = (pod: Pod): boolean => imageOf(pod) === 'example.com/wrong'

async function setUp(t: TestContext, decide: Decide) {
  return trainingFixture(t, { cluster, client, node: node.name }, { namespace: await namespace(t), decide })
}

for (const engine of ['pods', 'job'] as const) {
  test(`engine ${engine}: applies a corrected image at once, without counting a failure`, async (t) => {
    const { create, change, job, reaches, pods, emits } = await setUp(t, (pod, all) =>
      isWrong(pod) ? 'image-missing' : succeedTogether(2)(pod, all),
    )
    await create({ engine, image: 'example.com/wrong', backoffLimit: 0 })
    await until('the reason', async () => (await job()).status?.reason?.startsWith('ImagePullFailed'))
    await change({ image: 'example.com/right' })
    const { status } = await reaches('Completed')
    assert.deepEqual([status?.attempts, status?.failures, status?.lastFailure], [2, 0, undefined])
    assert.deepEqual((await pods()).map(imageOf), ['example.com/right', 'example.com/right'])
    await emits('SpecChanged')
  })

  test(`engine ${engine}: applies an edit of a running job with the next attempt`, async (t) => {
    const { create, change, reaches, pods, kubelet, operator } = await setUp(t, () => undefined)
    await create({ engine, image: 'example.com/old' })
    await reaches('Running')
    await change({ image: 'example.com/new' })
    await reaches('Running')
    const passes = await operator().passes()
    assert.ok(passes > 0)
    assert.deepEqual((await pods()).map(imageOf), ['example.com/old', 'example.com/old'])
    kubelet.decide((pod, all) => (attemptOf(pod) === 1 ? { exitCode: 1 } : succeedTogether(2)(pod, all)))
    const { status } = await reaches('Completed')
    assert.deepEqual([status?.attempts, status?.failures], [2, 1])
    assert.deepEqual((await pods()).map(imageOf), ['example.com/new', 'example.com/new'])
  })
}

test('applies lowered requests of an unschedulable job at once', async (t) => {
  const { create, change, job, reaches, pods } = await setUp(t, (pod, all) => {
    const isTooLarge = pod.spec?.containers[0]?.resources?.requests?.['cpu'] === '1k'
    return isTooLarge ? 'unscheduled' : succeedTogether(2)(pod, all)
  })
  await create({ resources: { requests: { cpu: '1000' }, limits: { cpu: '1000' } } })
  await until('two pods', async () => (await pods()).length === 2)
  await until('the status', async () => (await job()).status?.attempts === 1)
  await change({ resources: { requests: { cpu: '100m' }, limits: { cpu: '100m' } } })
  const { status } = await reaches('Completed')
  assert.deepEqual([status?.attempts, status?.failures], [2, 0])
})
