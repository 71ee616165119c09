/** Two operator processes. The leader is paused by SIGSTOP beyond its lease, and resumes after the other has acted. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { ConfigMap, Job, PersistentVolumeClaim, Pod, Service } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { generalOracles } from '../crash/oracles/general-oracles.ts'
import { SharedWatches } from '../crash/harness/shared-watches.ts'
import { trainingOracles } from '../crash/oracles/training-oracles.ts'
import { Observer } from '../crash/oracles/observer.ts'
import { Kubelet } from '../fakes/kubelet.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { endOne, trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const { client, node } = await apiCluster()
const { kubeconfig } = await sharedCluster()
const KINDS = [trainingJobs, Pod, Service, ConfigMap, PersistentVolumeClaim, Job]

async function startCandidate(t: TestContext, place: string): Promise<OperatorProcess> {
  const flags = [`--namespace=${place}`, `--lease-name=${place}`, '--no-webhook']
  const operator = await startOperatorProcess(kubeconfig, flags)
  t.after(async () => {
    operator.signal('SIGCONT')
    await operator.stop()
  })
  return operator
}

async function observe(t: TestContext, place: string): Promise<Observer> {
  const watches = new SharedWatches(client)
  t.after(() => watches.stop())
  const observer = new Observer([...trainingOracles(), ...generalOracles()])
  await observer.watch(watches, place, KINDS)
  const decide = endOne({ exitCode: 1 }, { rank: 1, attempt: 1, size: 2 })
  const kubelet = new Kubelet({ client, namespace: place, node: node.name, decide })
  t.after(() => kubelet.stop())
  return observer
}

for (const [when, isReached] of [
  ['before the first pod', (observer: Observer) => observer.list(Service).length > 0],
  ['after a failure', (observer: Observer) => observer.list(trainingJobs)[0]?.status?.failures === 1],
] as const) {
  test(`a leader that is paused ${when} and resumes late does no harm`, { concurrency: true }, async (t) => {
    const place = await namespace(t)
    const observer = await observe(t, place)
    const first = await startCandidate(t, place)
    await until('the first to lead', () => first.log().includes('became leader'))
    await startCandidate(t, place)
    await client.create(trainingJobs, trainingJob(place, 'job'))
    await until(when, () => isReached(observer))
    first.signal('SIGSTOP')
    const job = await until(
      'the other to complete the job',
      () => observer.list(trainingJobs).find(({ status }) => status?.state === 'Completed'),
      120_000,
    )
    first.signal('SIGCONT')
    await first.ended
    assert.equal(job.status?.failures, 1)
    assert.deepEqual(observer.tally.get('Pod/job-workers-0'), { created: 2, deleted: 1 })
    assert.deepEqual(observer.judge(), [])
  })
}
