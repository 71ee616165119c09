/**
 * Two workers train with PyTorch and gloo on a real kubelet, and lose what they have in every way: a worker is killed, a save is
 * interrupted, the job is suspended, its size changes, the operator ends meanwhile. Each attempt resumes from the newest complete
 * checkpoint. The workers record what they do in a file on the volume, which this test reads.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { TRAINER_IMAGE, trainerImage } from '../../images/trainer.ts'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { ObjectKey } from '../../src/kube/object.ts'
import { Namespace, PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import { buildImage } from '../../testenv/image.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { ignoreMissing } from '../fixtures/training.ts'
import { type SpecInput, trainingJob } from '../builders/training-job.ts'
import { installApi } from '../cluster/api.ts'
import { killContainer } from '../cluster/kill-container.ts'
import { type NodeCluster, nodeCluster } from '../cluster/node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const MINUTES = 5 * 60_000
const KEPT = 3
const RESOURCES = { requests: { cpu: '50m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } }
const CONFIG = { training: { backoffMs: 0, backoffLimitMs: 0, sharedMemory: '64Mi' } }

let cluster: NodeCluster
let client: Client
let operator: OperatorProcess
let directory: string

const start = (): Promise<OperatorProcess> =>
  startOperatorProcess(cluster.kubeconfig, [
    `--config=${join(directory, 'config.yaml')}`,
    `--agent-image=${OPERATOR_IMAGE}`,
  ])

interface Line {
  readonly attempt: number
  readonly event: 'started' | 'epoch'
  readonly rank: number
  readonly first?: number
  readonly epoch?: number
}

describe('checkpoints on a real kubelet', () => {
  before(async () => {
    cluster = await nodeCluster()
    for (const image of [operatorImage(), trainerImage()]) await cluster.load(await buildImage(image))
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    directory = await mkdtemp(join(tmpdir(), 'checkpoints-'))
    await writeFile(join(directory, 'config.yaml'), JSON.stringify(CONFIG))
    operator = await start()
  })

  after(async () => {
    await operator?.stop()
    await client?.close()
    await rm(directory, { recursive: true })
  })

  test('every attempt resumes from the newest complete checkpoint', async (t) => {
    const key = await setUp(t)
    const { namespace } = key
    await client.create(trainingJobs, trainingJob(namespace, 'bert', spec))
    const volume = await volumeOf(namespace)
    await trained(volume, 1, 3)
    await until('a save to be under way', async () => (await readdir(volume)).some((name) => name.startsWith('.tmp-')))
    await kill(namespace, 0)

    await trained(volume, 2, 2)
    await plantHalfWritten(volume)
    await kill(namespace, 1)

    await trained(volume, 3, 2)
    await change(key, { suspend: true })
    await reaches(key, 'Suspended')
    await operator.stop()
    await change(key, { suspend: false })
    operator = await start()

    await trained(volume, 4, 2)
    await change(key, { numWorkers: 1 })
    await trained(volume, 5, 2)
    const { status } = await reaches(key, 'Completed')

    const history = await historyIn(volume)
    t.diagnostic(
      `first epochs of the attempts: ${attemptsIn(history)
        .map((attempt) => firstOf(history, attempt))
        .join(', ')}`,
    )
    assert.deepEqual(attemptsIn(history), [1, 2, 3, 4, 5])
    for (const attempt of [2, 3, 4, 5]) {
      const last = lastOf(history, attempt - 1)
      const first = firstOf(history, attempt)
      assert.ok(first === last + 1 || first === last + 2, `attempt ${attempt} starts with ${first} after ${last}`)
    }
    assert.equal(status?.checkpoint?.attempt, 5)
    assert.equal(
      status?.checkpoint?.resumedFrom,
      `/checkpoints/step-${String(firstOf(history, 5) - 1).padStart(8, '0')}`,
    )
    assert.ok((status?.checkpoint?.count ?? 0) <= KEPT)
    const kept = (await readdir(volume)).filter((name) => /^step-\d+$/.test(name) && name !== HALF_WRITTEN)
    assert.equal(kept.length, KEPT, kept.join(', '))
    assert.ok((await readdir(volume)).includes(HALF_WRITTEN), 'what is not complete is not touched')
  })

  test('the same with checkpoints in S3, which are deleted with the job', async (t) => {
    const s3 = await startS3({ address: new URL((await configFromKubeconfig(cluster.kubeconfig)).server).hostname })
    t.after(() => s3.stop())
    await s3.createBucket('checkpoints')
    const key = await setUp(t)
    const { namespace } = key
    await client.create(PersistentVolumeClaim, historyClaim(namespace))
    await client.create(trainingJobs, trainingJob(namespace, 'bert', inBucket(s3)))
    const volume = await volumeOf(namespace)

    await trained(volume, 1, 4)
    await kill(namespace, 1)
    await trained(volume, 2, 3)
    await change(key, { suspend: true })
    await reaches(key, 'Suspended')
    await change(key, { suspend: false })
    const { status } = await reaches(key, 'Completed')

    const history = await historyIn(volume)
    const firsts = attemptsIn(history).map((attempt) => firstOf(history, attempt))
    t.diagnostic(`first epochs of the attempts: ${firsts.join(', ')}`)
    assert.deepEqual(attemptsIn(history), [1, 2, 3])
    for (const attempt of [2, 3]) {
      const last = lastOf(history, attempt - 1)
      const first = firstOf(history, attempt)
      assert.ok(first >= last && first <= last + 2, `attempt ${attempt} starts with ${first} after ${last}`)
    }
    const name = `step-${String(firstOf(history, 3) - 1).padStart(8, '0')}`
    assert.equal(status?.checkpoint?.resumedFrom, `s3://checkpoints/bert/${name}`)
    const stored = await markersIn(s3)
    assert.equal(stored.length, KEPT, stored.join(', '))
    assert.ok(stored.includes('bert/step-00000012/.complete'), 'the last checkpoint was uploaded at the end')
    await client.delete(trainingJobs, key)
    await until('the checkpoints to be deleted', async () => (await markersIn(s3)).length === 0, MINUTES)
  })
})

/** A restricted namespace. Returns the key of a job in it, which is deleted in the end. */
async function setUp(t: TestContext): Promise<{ readonly namespace: string; readonly name: string }> {
  const namespace = `test-${randomBytes(4).toString('hex')}`
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
  const key = { namespace, name: 'bert' }
  t.after(async () => {
    await client.delete(trainingJobs, key).catch(ignoreMissing)
    await client.delete(Namespace, { name: namespace })
  })
  await cluster.kubectl('wait', '-n', namespace, '--for=create', 'serviceaccount/default', '--timeout=60s')
  return key
}

const change = (key: ObjectKey, part: SpecInput): Promise<TrainingJob> =>
  client.patch(trainingJobs, key, { spec: part })

const kill = async (namespace: string, rank: number): Promise<void> =>
  killContainer(await client.get(Pod, { namespace, name: `bert-workers-${rank}` }), 'training-worker')

const historyClaim = (namespace: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name: 'history' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
})

function inBucket({ env }: S3Server): SpecInput {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  return {
    ...spec,
    env: [{ name: 'TRAINING_HISTORY', value: '/history/history.jsonl' }, ...variables],
    hyperparameters: { ...hyperparameters, epochs: 12 },
    volumes: [{ name: 'history', persistentVolumeClaim: { claimName: 'history' } }],
    volumeMounts: [{ name: 'history', mountPath: '/history' }],
    checkpoint: {
      keepLast: KEPT,
      deleteOnCompletion: true,
      storage: { type: 's3', path: 's3://checkpoints/bert' },
    },
  }
}

async function markersIn({ endpoint, env }: S3Server): Promise<string[]> {
  const credentials = {
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
  }
  const store = new S3Client({ endpoint, region: env['AWS_REGION'] ?? '', forcePathStyle: true, credentials })
  const { Contents = [] } = await store.send(new ListObjectsV2Command({ Bucket: 'checkpoints' }))
  store.destroy()
  return Contents.flatMap(({ Key = '' }) => (Key.endsWith('/.complete') ? [Key] : []))
}

const hyperparameters: object = { epochs: 16, secondsPerEpoch: 1, secondsPerSave: 0.7 }

const spec: SpecInput = {
  framework: 'pytorch',
  image: TRAINER_IMAGE,
  command: ['python', '/app/train.py'],
  env: [{ name: 'TRAINING_HISTORY', value: '/checkpoints/history.jsonl' }],
  numWorkers: 2,
  elastic: { minWorkers: 1, maxWorkers: 2 },
  hyperparameters,
  checkpoint: { keepLast: KEPT, storage: { size: '1Gi' } },
  resources: RESOURCES,
}

/** The directory of the volume on this machine. */
async function volumeOf(namespace: string): Promise<string> {
  const path = (what: string) => cluster.kubectl('get', 'persistentvolume', '-o', `jsonpath=${what}`)
  const mine = `{.items[?(@.spec.claimRef.namespace=="${namespace}")]`
  return until(
    'the volume',
    async () => {
      const found = await path(`${mine}.spec.hostPath.path}${mine}.spec.local.path}`)
      return found.trim() === '' ? undefined : found.trim()
    },
    MINUTES,
  )
}

const HALF_WRITTEN = 'step-00009999'

/** Its marker is there, but a file is shorter than listed, as after a failed copy. */
async function plantHalfWritten(volume: string): Promise<void> {
  await mkdir(join(volume, HALF_WRITTEN))
  await writeFile(join(volume, HALF_WRITTEN, 'state.pt'), 'half')
  const marker = { step: 9999, time: new Date().toISOString(), files: { 'state.pt': 4000 } }
  await writeFile(join(volume, HALF_WRITTEN, '.complete'), JSON.stringify(marker))
}

async function historyIn(volume: string): Promise<Line[]> {
  const text = await readFile(join(volume, 'history.jsonl'), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line)
}

/** Epochs that rank 0 has trained and saved. */
const epochsOf = (history: readonly Line[], attempt: number): number[] =>
  history.filter((line) => line.attempt === attempt && line.rank === 0).flatMap(({ epoch }) => epoch ?? [])
const lastOf = (history: readonly Line[], attempt: number): number => Math.max(0, ...epochsOf(history, attempt))
const firstOf = (history: readonly Line[], attempt: number): number =>
  history.find((line) => line.attempt === attempt && line.rank === 0 && line.event === 'started')?.first ?? 0
const attemptsIn = (history: readonly Line[]): number[] => [...new Set(history.map(({ attempt }) => attempt))]

const trained = (volume: string, attempt: number, epochs: number): Promise<unknown> =>
  until(
    `attempt ${attempt} to train ${epochs} epochs`,
    async () => epochsOf(await historyIn(volume), attempt).length >= epochs,
    MINUTES,
  )

const reaches = (key: { readonly namespace: string; readonly name: string }, state: string): Promise<TrainingJob> =>
  until(
    `the job to be ${state}`,
    async () => {
      const job = await client.get(trainingJobs, key)
      const isCurrent = job.status?.observedGeneration === job.metadata.generation
      return isCurrent && job.status?.state === state ? job : undefined
    },
    MINUTES,
  )
