/** Jobs without progress, and progress that the operator reads itself, on a real API server. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { isTrue } from '../../src/api/conditions.ts'
import { reportPath } from '../../src/api/training-report.ts'
import { Pod } from '../../src/kube/resources.ts'
import { listen } from '../../src/net/listening.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { kubectlFor } from '../../testenv/kubectl.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { reportingJobs } from '../fixtures/reporting-jobs.ts'
import { sendReport } from '../fixtures/reports.ts'
import { until } from '../timing/until.ts'

const api = await apiCluster()

test('a job that stops to report restarts, also if the operator restarts meanwhile; one that reports does not', async (t) => {
  const { ns, run, start, statusOf, tokenFor } = await reportingJobs(t, api, 'bert', 'other')
  const first = await start()
  await run({ stall: { timeoutSeconds: 6, action: 'Restart' } })
  const reportOf = async (name: string) => ({ token: await tokenFor(name), path: reportPath(ns, name) })
  const [stuck, fine] = [await reportOf('bert'), await reportOf('other')]
  await sendReport(first.port, { ...stuck, body: { step: 7 } })
  await sendReport(first.port, { ...fine, body: { step: 1 } })
  await until('both to be recorded', async () => {
    const statuses = await Promise.all(['bert', 'other'].map(statusOf))
    return statuses.every(({ lastReport }) => lastReport?.progressTime !== undefined)
  })
  await first.stop()
  const second = await start()
  let step = 1
  const { failures, lastFailure, restarts } = await until('another attempt', async () => {
    step += 1
    await sendReport(second.port, { ...fine, body: { step } })
    const status = await statusOf('bert')
    return status.attempts === 2 && status
  })
  assert.deepEqual([failures, restarts, lastFailure?.reason, lastFailure?.counted], [1, 1, 'Stalled', true])
  assert.match(lastFailure?.message ?? '', /^No progress for 6s \(stall\.timeoutSeconds\) at step 7$/)
  const other = await statusOf('other')
  assert.deepEqual([other.attempts, isTrue(other.conditions, 'Stalled')], [1, false])
  const kubectl = kubectlFor(await provideBinaries([kubernetes]), (await sharedCluster()).kubeconfig)
  await until('the event', async () => /TrainingStalled/.test(await kubectl('get', 'events', '-n', ns)))
})

test('a page of metrics of the worker reaches the status; a report of the worker takes precedence', async (t) => {
  let page = 'training_epoch 2\ntraining_total_epochs 4\ntraining_loss 0.5\n'
  const server = createServer((_request, response) => response.end(page))
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  const { ns, run, start, statusOf, tokenFor } = await reportingJobs(t, api, 'bert')
  const operator = await start()
  await run({ suspend: false, progress: { metrics: { port, path: '/metrics' } } })
  const key = { namespace: ns, name: 'bert-workers-0' }
  const status = { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }], hostIP: '127.0.0.2' }
  await api.client.patch(Pod, key, { status }, { subresource: 'status' })
  const { metrics, lastReport } = await until('the progress', async () => {
    const found = await statusOf('bert')
    return found.progress === '50%' && found
  })
  assert.deepEqual([metrics, lastReport?.source], [{ loss: 0.5 }, 'Metrics'])
  page = 'training_epoch 1\n'
  const report = { token: await tokenFor('bert'), path: reportPath(ns, 'bert'), body: { epoch: 3, totalEpochs: 4 } }
  assert.deepEqual(await sendReport(operator.port, report), [204, ''])
  const after = await until('the report', async () => {
    const found = await statusOf('bert')
    return found.progress === '75%' && found
  })
  assert.equal(after.lastReport?.source, 'Report')
})
