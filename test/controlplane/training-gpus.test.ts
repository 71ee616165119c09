/** The utilization of GPUs on a real API server: from the page of an exporter on the node to the status and the metric. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Pod } from '../../src/kube/resources.ts'
import { listen } from '../../src/net/listening.ts'
import { GpuUsage } from '../../src/reports/gpu-usage.ts'
import { createLogger, systemClock } from '../../src/runtime/index.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const log = createLogger({ level: 'silent' })

test('the page of the exporter on a node reaches the status and the metric; a small change is not written', async (t) => {
  const ns = await namespace(t)
  const usage = { 'bert-workers-0': 80, 'bert-workers-1': 40, other: 0 }
  let reads = 0
  const line = ([pod, percent]: [string, number]): string =>
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",namespace="${ns}",pod="${pod}"} ${percent}\n`
  const exporter = createServer((_request, response) => {
    reads += 1
    response.end(Object.entries(usage).map(line).join(''))
  })
  const port = await listen(exporter, { port: 0, host: '127.0.0.1' })
  const gpuUsage = new GpuUsage({ port, clock: systemClock, log, intervalMs: 50 })
  t.after(() => {
    gpuUsage.close()
    exporter.close()
  })
  const { create, runs, job, operator, audit, restart } = trainingFixture(
    t,
    { cluster, client, node: node.name },
    { namespace: ns, gpuUsage },
  )
  await create({ numWorkers: 2, gpusPerWorker: 1 })
  for (const { metadata } of await runs(2)) {
    const status = { hostIP: '127.0.0.1', hostIPs: [{ ip: '127.0.0.1' }] }
    await client.patch(Pod, { namespace: ns, name: metadata.name }, { status }, { subresource: 'status' })
  }
  const reaches = (percent: number) =>
    until(`${percent} percent`, async () => {
      const { status } = await job()
      return status?.resources?.gpuUtilization === percent ? status : undefined
    })
  const { workerStatuses = [] } = await reaches(60)
  assert.deepEqual(
    workerStatuses.map(({ workerId, gpuUtilization }) => [workerId, gpuUtilization]),
    [
      [0, 80],
      [1, 40],
    ],
  )
  const metric = async (): Promise<string[]> =>
    (await operator().manager.metrics.registry.metrics())
      .split('\n')
      .filter((sample) => sample.startsWith('trainingjob_gpu_utilization_percent{'))
      .map((sample) => /worker="(\w+)"\} (\d+)/.exec(sample)?.slice(1).join(' ') ?? sample)
  await until('the metric', async () => (await metric()).includes('all 60'))
  assert.deepEqual((await metric()).toSorted(), ['0 80', '1 40', 'all 60'])
  const writes = audit.writes.length
  usage['bert-workers-0'] = 85
  const seen = reads
  await until('three more reads', () => reads >= seen + 3)
  assert.equal(audit.writes.length, writes, 'a small change is not written')
  usage['bert-workers-0'] = 0
  await reaches(20)
  usage['bert-workers-1'] = 90
  await restart()
  await reaches(45)
})
