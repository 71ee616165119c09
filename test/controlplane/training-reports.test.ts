/** Progress reports on a real API server: tokens that are bound to pods, what is refused, and what a report costs. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { kubeflowReportPath, reportPath } from '../../src/api/training-report.ts'
import { Pod } from '../../src/kube/resources.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { kubectlFor } from '../../testenv/kubectl.ts'
import { envOf } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { reportingJobs } from '../fixtures/reporting-jobs.ts'
import { sendReport } from '../fixtures/reports.ts'
import { until } from '../timing/until.ts'

const api = await apiCluster()
const { client } = api

const setUp = (t: TestContext, ...names: readonly string[]) => reportingJobs(t, api, ...names)

test('a report reaches the status; one that changes nothing costs no write, and none costs a read', async (t) => {
  const { ns, run, start, statusOf, tokenFor } = await setUp(t, 'bert')
  const { port, audit, reads } = await start()
  await run()
  const pod = await client.get(Pod, { namespace: ns, name: 'bert-workers-0' })
  assert.match(envOf(pod, 'ML_OPERATOR_REPORT_URL') ?? '', new RegExp(`svc:9444${reportPath(ns, 'bert')}$`))
  await audit.take()
  reads.length = 0
  const report = { token: await tokenFor('bert'), path: reportPath(ns, 'bert') }
  const body = { epoch: 3, totalEpochs: 10, step: 1200, totalSteps: 4000, loss: 0.21, metrics: { lr: 0.001 } }
  assert.deepEqual(await sendReport(port, { ...report, body }), [204, ''])
  const { currentEpoch, totalEpochs, step, metrics, lastReport } = await until('the progress', async () => {
    const status = await statusOf('bert')
    return status.progress === '30%' && status
  })
  assert.deepEqual([currentEpoch, totalEpochs, step, metrics], [3, 10, 1200, { loss: 0.21, lr: 0.001 }])
  assert.deepEqual([lastReport?.source, lastReport?.attempt], ['Report', 1])
  for (let round = 0; round < 5; round += 1) await sendReport(port, { ...report, body })
  await sendReport(port, { ...report, body: { epoch: 5, step: 2000 } })
  const next = await until('the next epoch', async () => {
    const status = await statusOf('bert')
    return status.currentEpoch === 5 && status
  })
  assert.ok(next.progress === '50%' && next.estimatedCompletion !== undefined)
  const writes = await audit.take()
  assert.deepEqual(writes, [
    'create tokenreviews 201',
    'patch trainingjobs/bert/status 200',
    'patch trainingjobs/bert/status 200',
  ])
  assert.deepEqual(reads, [])
})

test('columns of kubectl get', async (t) => {
  const { ns, run, start, tokenFor } = await setUp(t, 'bert')
  const { port } = await start()
  await run()
  const report = { token: await tokenFor('bert'), path: kubeflowReportPath(ns, 'bert') }
  const trainerStatus = { progressPercentage: 45, estimatedRemainingSeconds: 600, metrics: [{ name: 'l', value: '1' }] }
  assert.deepEqual(await sendReport(port, { ...report, body: { trainerStatus } }), [200, '{}\n'])
  const kubectl = kubectlFor(await provideBinaries([kubernetes]), (await sharedCluster()).kubeconfig)
  const row = await until('the columns', async () => {
    const [, line = ''] = (await kubectl('get', 'tj', '-n', ns)).split('\n')
    return line.includes(' 45% ') && line
  })
  const [eta = ''] = /\d{4}-\S+Z/.exec(row) ?? []
  assert.ok(Date.parse(eta) > Date.now(), row)
  assert.equal((await sendReport(port, { ...report, path: reportPath(ns, 'bert'), body: { epoch: 7 } }))[0], 204)
  await until('the epoch', async () => / 7 /.test(await kubectl('get', 'tj', '-n', ns)))
})

describe('what is refused', () => {
  test('each with its code and one line, without an effect on the job or its neighbours', async (t) => {
    const { ns, run, start, statusOf, tokenFor } = await setUp(t, 'bert', 'other')
    const { port, audit } = await start()
    await run()
    const [token, foreign, wrong] = [await tokenFor('bert'), await tokenFor('other'), await tokenFor('bert', 'api')]
    const [head, claims, signature = ''] = token.split('.')
    const forged = [head, claims, signature.split('').toReversed().join('')].join('.')
    const path = reportPath(ns, 'bert')
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, 1]))
    const before = await statusOf('bert')
    await audit.take()
    const body = { epoch: 9 }
    const cases = [
      [401, { token: forged, path, body }],
      [401, { token: wrong, path, body }],
      [401, { token: 'x', path, body }],
      [403, { token: foreign, path, body }],
      [403, { token, path: reportPath('default', 'bert'), body }],
      [403, { token, path: reportPath(ns, 'missing'), body }],
      [413, { token, path, body: ' '.repeat(70_000) }],
      [413, { token, path, body: { metrics: many } }],
      [400, { token, path, body: { metrics: Object.fromEntries(Object.entries(many).slice(0, 1_000)) } }],
      [400, { token, path, body: '{"loss": NaN}' }],
      [400, { token, path, body: 'epoch=3' }],
      [400, { token, path, body: { epoch: -1 } }],
      [404, { token, path: `${path}/x`, body }],
    ] as const
    for (const [code, report] of cases) {
      const [status, reason] = await sendReport(port, report)
      assert.deepEqual(
        [status, reason.split('\n').length],
        [code, 2],
        `${JSON.stringify(report).slice(0, 200)} ${reason}`,
      )
    }
    assert.deepEqual(await sendReport(port, { token: foreign, path: reportPath(ns, 'other'), body }), [204, ''])
    await until('the neighbour', async () => (await statusOf('other')).currentEpoch === 9)
    assert.deepEqual(await statusOf('bert'), before)
    const writes = await audit.take()
    assert.deepEqual(
      writes.filter((write) => !write.startsWith('create tokenreviews')),
      ['patch trainingjobs/other/status 200'],
    )
  })

  test('a token of a pod that is gone', async (t) => {
    const { ns, kubelet, run, start, tokenFor, statusOf } = await setUp(t, 'bert')
    const { port } = await start()
    await run()
    const report = { token: await tokenFor('bert'), path: reportPath(ns, 'bert'), body: { epoch: 1 } }
    assert.equal((await sendReport(port, report))[0], 204)
    await client.delete(Pod, { namespace: ns, name: 'bert-workers-0' })
    await until('the next attempt', async () => (await statusOf('bert')).attempts === 2)
    await until('its pod', () =>
      kubelet.pods.some(({ metadata }) => metadata.labels?.['trainingjob.ml.example.com/attempt'] === '2'),
    )
    await until('the old pod to be unknown', async () => (await sendReport(port, report))[0] === 403)
  })
})

test('20 reports a second cost at most one write in ten seconds', async (t) => {
  const { ns, run, start, tokenFor, statusOf } = await setUp(t, 'bert')
  const { port, audit } = await start()
  await run()
  await audit.take()
  const report = { token: await tokenFor('bert'), path: reportPath(ns, 'bert') }
  const end = Date.now() + 25_000
  let step = 0
  while (Date.now() < end) {
    step += 1
    const [[code]] = await Promise.all([
      sendReport(port, { ...report, body: { step, totalSteps: 100_000, epoch: 1 } }),
      new Promise<void>((resolve) => setTimeout(resolve, 50)),
    ])
    assert.equal(code, 204)
  }
  await until('the last report', async () => (await statusOf('bert')).step === step)
  const writes = (await audit.take()).filter((write) => write.includes('/status'))
  assert.ok(step > 100 && writes.length >= 3 && writes.length <= 5, `${step} reports, ${writes.length} writes`)
})

test('a replica that does not lead sends reports to the leader; the next leader keeps the status', async (t) => {
  const { ns, run, start, tokenFor, statusOf } = await setUp(t, 'bert')
  const leader = await start('one')
  await until('a leader', () => leader.isLeading())
  const other = await start('two')
  await run()
  const report = { token: await tokenFor('bert'), path: reportPath(ns, 'bert') }
  await until('the address of the leader', async () => {
    const [code] = await sendReport(other.port, { ...report, body: { epoch: 1, totalEpochs: 4 } })
    return code === 204
  })
  await until('the progress', async () => (await statusOf('bert')).progress === '25%')
  assert.deepEqual(await other.audit.take(), [])
  await leader.stop()
  await until('the next leader', () => other.isLeading())
  assert.equal((await statusOf('bert')).progress, '25%')
  await until('a report to it', async () => {
    const [code] = await sendReport(other.port, { ...report, body: { epoch: 2, totalEpochs: 4 } })
    return code === 204
  })
  await until('its progress', async () => (await statusOf('bert')).progress === '50%')
})
