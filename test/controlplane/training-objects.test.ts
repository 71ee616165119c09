/** Every object of the training planner is accepted by a real API server under Pod Security `restricted`. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { objectsToDelete, objectsToWrite } from '../builders/plans.ts'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { ConfigMap, Job, Namespace, PersistentVolumeClaim, Pod, Secret, Service } from '../../src/kube/resources.ts'
import { engines } from '../../src/plan/training/engines/registry.ts'
import { TrainingCluster } from '../sim/training-cluster.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

let client: Client
before(async () => {
  client = (await sharedCluster()).client
})

const kinds: readonly Resource[] = [Pod, Service, ConfigMap, PersistentVolumeClaim, Secret, Job]

async function restricted(t: Parameters<typeof namespace>[0]): Promise<string> {
  const name = await namespace(t)
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' }
  await client.patch(Namespace, { name }, { metadata: { labels } })
  return name
}

/** All objects of a job until its pods exist, launchers included. */
function objectsOf(spec: object): KubeObject[] {
  const cluster = new TrainingCluster(spec)
  return [1, 2, 3].flatMap(() => {
    const { writes = [] } = cluster.pass() ?? {}
    cluster.controlJob()
    cluster.runAll()
    return writes.map(({ object }) => object)
  })
}

const role = { resources: { limits: { cpu: 1 } }, args: ['--x'] }
const specs: Readonly<Record<string, object>> = {
  'seed 002': {
    model: 'resnet50',
    dataset: 'imagenet',
    numWorkers: 2,
    hyperparameters: { learningRate: 0.001, nested: { a: [1] } },
  },
  torchrun: {
    image: 'i',
    command: ['torchrun', 'x'],
    numWorkers: 4,
    gpusPerWorker: 8,
    elastic: { minWorkers: 1, maxWorkers: 8 },
  },
  tensorflow: {
    framework: 'tensorflow',
    numWorkers: 2,
    roles: [{ name: 'chief', ...role }, { name: 'ps', replicas: 2 }, { name: 'evaluator' }],
  },
  xgboost: { framework: 'xgboost', numWorkers: 2, gpusPerWorker: 0, dataVolume: { claimName: 'data', readOnly: true } },
  jax: { framework: 'jax', numWorkers: 2, checkpoint: { storage: { type: 's3', path: 's3://bucket/prefix' } } },
  mpi: { framework: 'mpi', numWorkers: 2, procsPerWorker: 4 },
  'engine job': { engine: 'job', numWorkers: 3, framework: 'custom' },
  'everything of the pod': {
    env: [{ name: 'A', value: '$(RANK)' }],
    envFrom: [
      { prefix: 'P_', secretRef: { name: 's', optional: true } },
      { configMapRef: { name: 'c', optional: true } },
    ],
    resources: { requests: { cpu: '500m', memory: '64Gi' }, limits: { 'example.com/rdma': 1 } },
    scheduling: {
      nodeSelector: { pool: 'a' },
      tolerations: [{ key: 'spot', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] } },
          ],
        },
      },
      topologyKey: 'topology.kubernetes.io/zone',
      schedulerName: 'default-scheduler',
    },
    imagePullSecrets: [{ name: 'registry' }],
    volumes: [
      { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'login', secret: { secretName: 'login' } },
      { name: 'more', persistentVolumeClaim: { claimName: 'more' } },
    ],
    volumeMounts: [
      { name: 'scratch', mountPath: '/scratch' },
      { name: 'settings', mountPath: '/dev/shm' },
    ],
  },
}

for (const [name, spec] of Object.entries(specs)) {
  test(`${name}: every object is accepted under Pod Security restricted`, async (t) => {
    const into = await restricted(t)
    const objects = objectsOf(spec)
    assert.ok(objects.some(({ kind }) => kind === 'Pod' || kind === 'Job'))
    for (const object of objects) {
      const resource = kinds.find(({ kind }) => kind === object.kind)
      assert.ok(resource, object.kind)
      await client.apply(resource, { ...object, metadata: { ...object.metadata, namespace: into } }, { dryRun: true })
    }
  })
}

test('a pod without its security context is rejected there', async (t) => {
  const into = await restricted(t)
  const pod = objectsOf({}).find(({ kind }) => kind === 'Pod') as Pod
  const spec = { ...pod.spec, securityContext: {} } as NonNullable<Pod['spec']>
  const bare = { ...pod, metadata: { ...pod.metadata, namespace: into }, spec }
  await assert.rejects(client.apply(Pod, bare, { dryRun: true }), /violates PodSecurity "restricted/)
})

test('suspending a Job by an apply deletes its pods', async (t) => {
  const into = await namespace(t)
  const { observed } = new TrainingCluster({ engine: 'job', numWorkers: 2 })
  const [made] = engines.job.create(observed, { number: 1, worldSize: 2 }, [{ role: 'worker', index: 0 }])
  assert.ok(made)
  await client.apply(Job, { ...made, metadata: { ...made.metadata, namespace: into } })
  const podsThere = async () => (await client.list(Pod, { namespace: into })).items
  const pods = await until('two pods', async () => {
    const items = await podsThere()
    return items.length === 2 ? items : undefined
  })
  const workload = await client.get(Job, { namespace: into, name: 'bert-job' })
  const members = engines.job.members({ ...observed, workload, pods })
  assert.deepEqual(new Set(members.map(({ index, attempt }) => `${attempt}/${index}`)), new Set(['1/0', '1/1']))
  assert.ok(pods.every(({ spec }) => /^bert-job-[01]$/.test(spec?.hostname ?? '')))
  for (const object of objectsToWrite(engines.job.stop({ ...observed, workload, pods }, members)))
    await client.apply(Job, { ...object, metadata: { ...object.metadata, namespace: into } }, { force: true })
  await until('no pods', async () => (await podsThere()).length === 0)
  const last = await client.get(Job, { namespace: into, name: 'bert-job' })
  assert.deepEqual(objectsToDelete(engines.job.remove({ ...observed, workload: last }, [])), [last])
})
