/** The acceptance manifests, applied unchanged to a cluster with the operator as a process. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { alphaTrainingJobs, trainingJobs } from '../../src/api/kinds.ts'
import type { KubeObject, ObjectKey } from '../../src/kube/object.ts'
import { ConfigMap, Namespace, Pod, Service } from '../../src/kube/resources.ts'
import { acceptanceCluster } from '../cluster/acceptance-cluster.ts'
import { manifestsIn } from '../cluster/api.ts'
import { Kubelet } from '../fakes/kubelet.ts'
import { envOf, gangOf, isComplete, trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const NAMESPACES = ['default', 'ml-team', 'ml-jobs', 'team-a']

const { plane, client, node, kubelets, operator } = await acceptanceCluster(NAMESPACES, () => undefined)

/** Workers run until `finish` is called; then they succeed once the whole gang has started. */
function finish(): void {
  for (const kubelet of kubelets)
    kubelet.decide((pod, pods) =>
      isComplete(pod, pods, Number(envOf(pod, 'WORLD_SIZE') ?? gangOf(pod, pods).length)) ? { exitCode: 0 } : undefined,
    )
}

const manifests = await manifestsIn('test/acceptance')
const training = manifests.filter(({ objects: [first] }) => first?.kind === 'TrainingJob')

const keyOf = ({ metadata: { namespace = 'default', name } }: KubeObject): Required<ObjectKey> => ({ namespace, name })

test('there are TrainingJobs among the manifests', () => assert.equal(training.length, 4))

for (const { file, objects } of training) {
  const key = keyOf(objects[0] as KubeObject)
  const pods = async (): Promise<readonly Pod[]> =>
    (await client.list(Pod, { namespace: key.namespace, labelSelector: `trainingjob=${key.name}` })).items

  test(`${basename(file)} runs`, async () => {
    await plane.kubectl('apply', '-f', file)
    const { spec } = await client.get(trainingJobs, key)
    await until('all workers to run', async () => {
      const all = await pods()
      return all.length === spec.numWorkers && all.every(({ status }) => status?.phase === 'Running')
    })
    await until('the job to be Running', async () => (await client.get(trainingJobs, key)).status?.state === 'Running')
    assert.equal((await client.get(alphaTrainingJobs, key)).status?.phase, 'Running')
    await client.get(Service, { namespace: key.namespace, name: `${key.name}-workers` })
    if (spec.hyperparameters) await client.get(ConfigMap, { namespace: key.namespace, name: `${key.name}-config` })
    const shown = await plane.kubectl('get', 'tj', '-n', key.namespace, key.name)
    assert.match(shown, new RegExp(`${key.name} +Running`))
    assert.match(shown, /^NAME +STATE +PROGRESS +EPOCH +WORKERS +AGE +READY +ETA +RESTARTS +REASON/)
    assert.match(shown, new RegExp(`${spec.numWorkers}/${spec.numWorkers} +0`))
  })
}

test('the documented JSON patch scales a running job', async () => {
  const key = { namespace: 'ml-jobs', name: 'pytorch-mnist' }
  const patch = '[{"op": "replace", "path": "/spec/workers", "value": 4}]'
  const inAlpha = 'trainingjobs.v1alpha1.ml.example.com/pytorch-mnist'
  await plane.kubectl('patch', '-n', key.namespace, inAlpha, '--type=json', '-p', patch)
  await until('four workers with WORLD_SIZE 4', async () => {
    const { items } = await client.list(Pod, { namespace: key.namespace })
    return (
      items.length === 4 && items.every((pod) => pod.status?.phase === 'Running' && envOf(pod, 'WORLD_SIZE') === '4')
    )
  })
})

for (const { file, objects } of training) {
  const key = keyOf(objects[0] as KubeObject)
  test(`${basename(file)} completes`, async () => {
    finish()
    await plane.kubectl('wait', '-n', key.namespace, `tj/${key.name}`, '--for=condition=Complete', '--timeout=60s')
    assert.equal((await client.get(trainingJobs, key)).status?.state, 'Completed')
    assert.equal((await client.get(alphaTrainingJobs, key)).status?.phase, 'Succeeded')
  })
}

test('leave no pods after they are deleted', async () => {
  for (const { file } of training) await plane.kubectl('delete', '-f', file, '--timeout=60s')
  await until('no pods', async () => (await client.list(Pod, { labelSelector: 'app=trainingjob' })).items.length === 0)
})

test('a namespace with a running job can be deleted', async () => {
  const name = 'deleted'
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const kubelet = new Kubelet({ client, namespace: name, node: node.name, decide: () => undefined })
  kubelets.push(kubelet)
  await client.create(trainingJobs, trainingJob(name, 'bert'))
  await until('the job to run', async () => {
    const { status } = await client.get(trainingJobs, { namespace: name, name: 'bert' })
    return status?.state === 'Running'
  })
  await plane.kubectl('delete', 'namespace', name, '--timeout=60s')
})

test('serves /metrics, and stops gracefully', async () => {
  const metrics = await (await fetch(`${operator.url}/metrics`)).text()
  assert.match(metrics, /reconcile_duration_seconds_count\{.*controller="trainingjob"/)
  assert.equal(await operator.stop(), 0)
  assert.doesNotMatch(operator.log(), /"level":"(error|fatal)"/)
})

test('the command line prints its help and rejects invalid arguments', () => {
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
  const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
  assert.match(run('--help').stdout, /--\[no-\]leader-elect/)
  for (const wrong of [['sing'], ['operator', '--nonsense'], ['operator', '--port=many']]) {
    const { status, stderr } = run(...wrong)
    assert.equal(status, 2, stderr)
    assert.match(stderr, /--help/)
  }
})
