/** Running jobs with one worker each, and the tokens of their pods, on a control plane without nodes. */
import { trainingJobs } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { keyOf } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import { trainingJob } from '../../test/builders/training-job.ts'
import { running } from '../../test/fakes/pod-status.ts'
import { tokenOf } from '../../test/fixtures/reports.ts'
import { until } from '../../test/timing/until.ts'
import { startDriver } from './driver.ts'
import { PATIENCE_MS, secondsUntilPods } from './load.ts'
import type { Reporter } from './report-load.ts'

const LANES = 16

export async function runningJobs(cluster: ClientConfig, jobs: number): Promise<Reporter[]> {
  const spec = { numWorkers: 1, checkpoint: { enabled: false } }
  const kubelet = startDriver(cluster, { resource: Pod, labelSelector: 'app=trainingjob', act: run })
  const manifest = (namespace: string, name: string) => trainingJob(namespace, name, spec)
  await secondsUntilPods({ cluster, jobs, workers: 1, manifest }, 'reports')
  const client = createClient(cluster)
  await until('all jobs to run', async () => (await countRunning(client)) === jobs, PATIENCE_MS)
  await kubelet.stop()
  const reporters = await reportersOf(client)
  await client.close()
  return reporters
}

function run(client: Client, pod: Pod): void {
  if (pod.status?.phase === 'Running') return
  void client.patch(Pod, keyOf(pod), { status: running(pod) }, { subresource: 'status' }).catch(() => undefined)
}

async function countRunning(client: Client): Promise<number> {
  const { items } = await client.list(trainingJobs)
  return items.filter(({ status }) => status?.state === 'Running').length
}

/** Tokens as the kubelet requests them. */
async function reportersOf(client: Client): Promise<Reporter[]> {
  const { items } = await client.list(Pod, { labelSelector: 'app=trainingjob' })
  const reporters: Reporter[] = []
  const waiting = items.values()
  const lane = async (): Promise<void> => {
    for (const { metadata } of waiting) {
      const { namespace = '', name, labels } = metadata
      const token = await tokenOf(client, { namespace, name })
      reporters.push({ namespace, job: labels?.['trainingjob'] ?? '', token })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return reporters
}
