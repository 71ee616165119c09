/**
 * Real frameworks train on a real kubelet, under Pod Security `restricted`: two processes that compute one model together,
 * report their progress, lose a worker and complete from the last checkpoint. PyTorch is in test/node/demo.test.ts.
 *
 * test/images/frameworks has the programs. Each has data of which a process sees only its part, so the loss is small only if
 * the processes exchanged gradients.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test, type TestContext } from 'node:test'
import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace, Pod } from '../../src/kube/resources.ts'
import { buildImage } from '../../testenv/image.ts'
import { type SpecInput, trainingJob } from '../builders/training-job.ts'
import { installApi } from '../cluster/api.ts'
import { killContainer } from '../cluster/kill-container.ts'
import { type NodeCluster, nodeCluster } from '../cluster/node-cluster.ts'
import { loadFramework } from '../images/frameworks.ts'
import { startReportingProcess } from '../operator/reporting-process.ts'
import { until } from '../timing/until.ts'

const RESOURCES = { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '2', memory: '2Gi' } }
const CONFIG = {
  training: { agentImage: OPERATOR_IMAGE, backoffMs: 0, backoffLimitMs: 0, sharedMemory: '64Mi' },
}
const MINUTES = 5 * 60_000

/** As in test/images/frameworks/gang.py. */
const EPOCHS = 6
const LOST_AFTER = 3

interface Case {
  readonly framework: NonNullable<SpecInput['framework']>
  readonly spec: SpecInput
  /** The pod whose loss restarts the gang: that of the last process. */
  readonly lost: string
  /** The pod with the output of the first process. */
  readonly first: string
}

const cases: readonly Case[] = [
  { framework: 'jax', spec: { numWorkers: 2 }, lost: 'workers-1', first: 'workers-0' },
  { framework: 'xgboost', spec: { numWorkers: 2 }, lost: 'workers-1', first: 'workers-0' },
  {
    framework: 'tensorflow',
    spec: { numWorkers: 1, roles: [{ name: 'chief', replicas: 1 }] },
    lost: 'workers-0',
    first: 'chief-0',
  },
  { framework: 'mpi', spec: { numWorkers: 2 }, lost: 'workers-1', first: 'launcher-0' },
]

let cluster: NodeCluster
let client: Client
let operator: Awaited<ReturnType<typeof startReportingProcess>>

async function restricted(t: TestContext): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  t.after(async () => {
    // While the operator runs, which removes the finalizer.
    await cluster.kubectl('delete', '-n', name, 'trainingjobs.ml.example.com', '--all', '--timeout=120s')
    await client.delete(Namespace, { name })
  })
  await cluster.kubectl('wait', '-n', name, '--for=create', 'serviceaccount/default', '--timeout=60s')
  return name
}

/** Without a command: the framework starts /app/train.py. */
function jobOf(namespace: string, spec: SpecInput): TrainingJob {
  const podTemplate: object = { spec: { terminationGracePeriodSeconds: 1 } }
  const base = { model: 'linear', dataset: 'rows', resources: RESOURCES, cleanPodPolicy: 'None' as const, podTemplate }
  const job = trainingJob(namespace, 'train', { ...base, ...spec })
  const { command: _command, ...own } = job.spec
  return { ...job, spec: own }
}

type Status = NonNullable<TrainingJob['status']>

async function reaches(what: string, namespace: string, isReached: (status: Status) => boolean): Promise<Status> {
  const key = { namespace, name: 'train' }
  let seen: Status = {}
  try {
    return await until(
      what,
      async () => {
        seen = (await client.get(trainingJobs, key)).status ?? {}
        return isReached(seen) && seen
      },
      MINUTES,
    )
  } catch (error) {
    throw new Error(`${JSON.stringify(seen, undefined, 1)}\n${await logs(namespace)}`, { cause: error })
  }
}

async function logs(namespace: string): Promise<string> {
  const { items } = await client.list(Pod, { namespace })
  const names = items.map(({ metadata }) => metadata.name)
  const texts = names.map((name) => client.logs({ namespace, name }).catch((error: unknown) => String(error)))
  return (await Promise.all(texts)).map((text, index) => `--- ${names[index]}\n${text}`).join('\n')
}

describe('frameworks on a real kubelet', () => {
  before(async () => {
    cluster = await nodeCluster()
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    await cluster.load(await buildImage(operatorImage()))
    operator = await startReportingProcess(client, cluster.kubeconfig, CONFIG)
  })

  after(async () => {
    await operator?.stop()
    await client?.close()
  })

  for (const { framework, spec, lost, first } of cases)
    test(`${framework} trains, reports, and completes after the loss of a worker`, async (t) => {
      const image = await loadFramework(framework)
      const namespace = await restricted(t)
      await client.create(trainingJobs, jobOf(namespace, { framework, image, ...spec }))

      const trained = await reaches(
        'the reports of the first attempt',
        namespace,
        (status) => status.currentEpoch === LOST_AFTER,
      )
      assert.deepEqual([trained.attempts, trained.totalEpochs, trained.lastReport?.source], [1, EPOCHS, 'Report'])
      await killContainer(await client.get(Pod, { namespace, name: `train-${lost}` }), 'training-worker')

      const status = await reaches(
        'the job to complete',
        namespace,
        ({ state }) => state === 'Completed' || state === 'Failed',
      )
      const output = await client.logs({ namespace, name: `train-${first}` })
      assert.equal(status.state, 'Completed', await logs(namespace))
      assert.deepEqual([status.attempts, status.restarts, status.failures], [2, 1, 1])
      assert.match(output, new RegExp(`resumed after epoch ${LOST_AFTER}`))
      assert.deepEqual([status.currentEpoch, status.progress, status.lastReport?.attempt], [EPOCHS, '100%', 2])
      assert.ok(Number(status.metrics?.['loss']) < 0.1, `loss ${status.metrics?.['loss']}`)
    })
})
