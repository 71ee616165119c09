/** Training jobs on a real kubelet, with workers that connect to each other. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Namespace, PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { buildImage } from '../../testenv/image.ts'
import { NODE_NAME } from '../../testenv/node.ts'
import { installApi, manifestsIn } from '../cluster/api.ts'
import { advertiseGpus } from '../cluster/gpus.ts'
import { type NodeCluster, nodeCluster } from '../cluster/node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { loadTrainers, TRAINER } from '../images/trainer.ts'
import { attemptOf, type SpecInput, trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const SMALL = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '1', memory: '64Mi' } }
const CONFIG = {
  training: {
    defaultResources: SMALL,
    defaultCpuResources: SMALL,
    sharedMemory: '8Mi',
    backoffMs: 0,
    backoffLimitMs: 0,
  },
}
const MINUTES = 3 * 60_000

let cluster: NodeCluster
let client: Client
let operator: OperatorProcess
let directory: string

async function restricted(name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.apply(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, { force: true })
  await cluster.kubectl('wait', '-n', name, '--for=create', 'serviceaccount/default', '--timeout=60s')
}

/** Helpers for a job in a namespace with Pod Security `restricted`. Its workers wait for `finish`. */
async function setUp(t: TestContext) {
  const namespace = `test-${randomBytes(4).toString('hex')}`
  await restricted(namespace)
  const key = { namespace, name: 'bert' }
  t.after(async () => {
    await client.delete(trainingJobs, key)
    await client.delete(Namespace, { name: namespace })
  })
  const base = { image: TRAINER, command: ['python', 'wait'], resources: SMALL }
  return {
    namespace,
    key,
    ...queries(key),
    create: (spec: SpecInput = {}) => client.create(trainingJobs, trainingJob(namespace, 'bert', { ...base, ...spec })),
    change: (spec: SpecInput) => client.patch(trainingJobs, key, { spec }),
    finish: () =>
      until('the master to be signalled', async () => {
        await cluster.kubectl('exec', '-n', namespace, 'bert-workers-0', '--', 'touch', '/tmp/go')
        return true
      }),
  }
}

function queries(key: { readonly namespace: string; readonly name: string }) {
  const { namespace } = key
  const pods = async (): Promise<readonly Pod[]> => (await client.list(Pod, { namespace })).items
  return {
    pods,
    connected: (attempt: number) =>
      until(
        `the ranks of attempt ${attempt} to connect`,
        async () => {
          const master = (await pods()).find(({ metadata }) => metadata.name === 'bert-workers-0')
          if (!master || attemptOf(master) !== attempt || master.status?.phase !== 'Running') return false
          return (await client.logs({ namespace, name: 'bert-workers-0' })).includes('all 2 ranks are here')
        },
        MINUTES,
      ),
    reaches: (state: string) =>
      until(
        `the job to be ${state}`,
        async () => {
          const job = await client.get(trainingJobs, key)
          const isCurrent = job.status?.observedGeneration === job.metadata.generation
          return isCurrent && job.status?.state === state ? job : undefined
        },
        MINUTES,
      ),
  }
}

describe('training on a real kubelet', () => {
  before(async () => {
    cluster = await nodeCluster()
    await loadTrainers()
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    directory = await mkdtemp(join(tmpdir(), 'training-'))
    await writeFile(join(directory, 'config.yaml'), JSON.stringify(CONFIG))
    await cluster.load(await buildImage(operatorImage()))
    const flags = [`--config=${join(directory, 'config.yaml')}`, `--agent-image=${OPERATOR_IMAGE}`]
    operator = await startOperatorProcess(cluster.kubeconfig, flags)
    await advertiseGpus(cluster, 4)
  })

  after(async () => {
    await operator?.stop()
    await advertiseGpus(cluster, 1)
    await client?.close()
    await rm(directory, { recursive: true })
  })

  test('restarts the gang once after a worker was killed', async (t) => {
    const { create, connected, finish, reaches, namespace } = await setUp(t)
    await create()
    await connected(1)
    await cluster.kubectl('exec', '-n', namespace, 'bert-workers-1', '--', 'sh', '-c', 'kill 1')
    await connected(2)
    await finish()
    const { status } = await reaches('Completed')
    assert.equal(status?.attempts, 2)
    assert.equal(status?.failures, 1)
    assert.equal(status?.lastFailure?.worker, 1)
    const { attempt, count, resumedFrom } = status?.checkpoint ?? {}
    assert.deepEqual({ attempt, count, resumedFrom }, { attempt: 2, count: 0, resumedFrom: undefined })
    assert.equal(status?.lastFailure?.node, NODE_NAME)
    assert.match(status?.lastFailure?.log ?? '', /rank 1 of 2/)
  })

  test('does not count a preempted worker, and reports what the gang waits for', async (t) => {
    const { create, connected, finish, reaches, namespace, key } = await setUp(t)
    await create({ backoffLimit: 0, gpusPerWorker: 2 })
    await connected(1)
    await client.create(priorityClasses, urgent)
    t.after(() => client.delete(priorityClasses, { name: urgent.metadata.name }))
    // The API server admits the pod once its own watch has seen the class.
    await until('the urgent pod to be admitted', () => client.create(Pod, urgentPod(namespace)))
    await until('the gang to wait for GPUs', async () => {
      const { status } = await client.get(trainingJobs, key)
      return status?.attempts === 2 && status.reason?.startsWith('InsufficientGPU')
    })
    await client.delete(Pod, { namespace, name: 'urgent' })
    await connected(2)
    await finish()
    const { status } = await reaches('Completed')
    assert.equal(status?.attempts, 2)
    assert.equal(status?.failures ?? 0, 0)
    assert.equal(status?.lastFailure?.reason, 'Preempted')
  })

  test('frees the node while suspended, and completes after it is resumed', async (t) => {
    const { create, change, connected, finish, reaches, pods } = await setUp(t)
    await create({ gpusPerWorker: 2 })
    await connected(1)
    await change({ suspend: true })
    await reaches('Suspended')
    assert.deepEqual(await pods(), [])
    await change({ suspend: false })
    await connected(2)
    await finish()
    await reaches('Completed')
  })

  test('runs the acceptance manifests to completion', async (t) => {
    const jobs = (await manifestsIn('test/acceptance')).flatMap(({ objects }) => objects).filter(isTrainingJob)
    for (const job of jobs) await assertCompletes(t, job)
  })
})

const priorityClasses: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
}

const urgent = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'urgent' },
  value: 1_000,
}

/** A pod with a higher priority that requests a GPU. */
function urgentPod(namespace: string): Pod {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const container = {
    name: 'main',
    image: TRAINER,
    command: ['sleep', 'infinity'],
    resources: { limits: { 'nvidia.com/gpu': '1' } },
    securityContext,
  }
  const spec = { priorityClassName: urgent.metadata.name, terminationGracePeriodSeconds: 0, containers: [container] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'urgent' }, spec }
}

const isTrainingJob = ({ kind }: KubeObject): boolean => kind === 'TrainingJob'

/** Runs a manifest unchanged, except for CPU and memory, which a small machine does not have. */
async function assertCompletes(t: TestContext, manifest: KubeObject): Promise<void> {
  const { spec, ...rest } = manifest as TrainingJob
  const { namespace = 'default', name } = rest.metadata
  const [group = '', version = ''] = rest.apiVersion.split('/')
  const resource: Resource = { ...trainingJobs, group, version }
  await restricted(namespace)
  const { dataVolume } = spec
  if (dataVolume) await client.create(PersistentVolumeClaim, dataClaim(namespace, dataVolume.claimName))
  await client.create(resource, {
    ...rest,
    spec: { ...spec, ...(spec.resources && { resources: SMALL }) },
  } as KubeObject)
  t.after(() => client.delete(trainingJobs, { namespace, name }))
  const { status } = await until(
    `${name} to complete`,
    async () => {
      const job = await client.get(trainingJobs, { namespace, name })
      return job.status?.state === 'Completed' ? job : undefined
    },
    MINUTES,
  )
  assert.equal(status?.attempts, 1)
}

function dataClaim(namespace: string, name: string): PersistentVolumeClaim {
  const spec = { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } }
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace, name }, spec }
}
