/** Traffic on a real kubelet: FastAPI and PyTorch behind the router, divided exactly, changed live, without a lost request. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { modelDeployments } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { routerReports } from '../../src/integrations/router-reports.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace, Pod, Service } from '../../src/kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { installApi } from '../api.ts'
import { load, type LoadOptions, type LoadResult } from '../load.ts'
import { type NodeCluster, nodeCluster } from '../node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator-process.ts'
import { loadServingImages, makeModels, MODELS_CLAIM, servingSettings } from '../served-model.ts'
import { until } from '../until.ts'

const MINUTES = 5 * 60_000
const REQUESTS = 20_000
const BODY = JSON.stringify({ features: [[0.5, -0.25]] })
const SMALL = { requests: { cpu: '50m', memory: '256Mi' }, limits: { cpu: '2', memory: '768Mi' } }

type Weights = Readonly<Record<string, number>>

let cluster: NodeCluster
let client: Client
let operator: OperatorProcess
let directory: string
let namespace: string
let url: string

const key = () => ({ namespace, name: 'spiral' })

const versionsOf = (weights: Weights) =>
  Object.entries(weights).map(([name, weight]) => {
    const file = name === 'v1' ? 'v1' : 'v2'
    return { name, weight, modelPath: `pvc://${MODELS_CLAIM}/${file}/model.pt` }
  })

const model = (weights: Weights): ModelDeployment =>
  ({
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelDeployment',
    metadata: key(),
    spec: {
      modelName: 'spiral',
      framework: 'pytorch',
      runtime: 'fastapi-pytorch',
      versions: versionsOf(weights),
      resources: SMALL,
      scaling: { minReplicas: 2, maxReplicas: 2 },
      traffic: { provider: 'router' },
    },
  }) as unknown as ModelDeployment

const podsOf = async (label: string, value: string): Promise<readonly Pod[]> => {
  const { items } = await client.list(Pod, { namespace, labelSelector: `${label}=${value}` })
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}
const uids = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid ?? '').toSorted()
const routers = () => podsOf(ROLE_LABEL, 'router')
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false

/** All routers say that they divide like this. */
async function divided(weights: Weights, count = 2): Promise<void> {
  await until(
    `${JSON.stringify(weights)} to be in effect`,
    async () => {
      const pods = (await routers()).filter(isReady)
      const reports = [...(await routerReports()(pods)).values()]
      const isSo = ({ versions }: (typeof reports)[number]): boolean =>
        Object.entries(weights).every(
          ([name, weight]) => (versions.find(({ version }) => version === name)?.weight ?? 0) === weight,
        )
      return pods.length >= count && reports.length === pods.length && reports.every(isSo)
    },
    MINUTES,
  )
}

const weigh = (weights: Weights) => client.patch(modelDeployments, key(), { spec: { versions: versionsOf(weights) } })

/** Milliseconds from the change of the spec until every router divides by it. */
async function turn(weights: Weights): Promise<number> {
  const from = Date.now()
  await weigh(weights)
  await divided(weights)
  return Date.now() - from
}

type Sent = Partial<LoadOptions> & { readonly requests: number }

/** Who is there: for counting alone, as the model itself would take most of the time. */
const ask = (options: Sent): Promise<LoadResult> => load(url, { path: '/health', read: versionIn, ...options })
const predict = (options: Sent): Promise<LoadResult> =>
  load(url, { path: '/predict', body: BODY, read: versionIn, ...options })
const versionIn = (text: string): string => (JSON.parse(text) as { version: string }).version

const inWords = ({ answers, failures, repeated, seconds }: LoadResult): string => {
  const total = [...answers.values()].reduce((sum, count) => sum + count, failures.length)
  const shares = [...answers].map(([version, count]) => `${version} ${count} (${((100 * count) / total).toFixed(2)} %)`)
  return `${total} requests, ${shares.join(', ')}, ${failures.length} failed, ${repeated} repeated, ${Math.round(total / seconds)} requests/s`
}

/** Runs beside a load, once so many requests have ended. */
function at(moments: Readonly<Record<number, () => Promise<unknown>>>) {
  const under: Promise<unknown>[] = []
  const progress = (ended: number): void => {
    const act = moments[ended]
    if (act) under.push(act())
  }
  return { progress, done: () => Promise.all(under) }
}

/** As the kernel does when memory runs out: nobody is asked. Processes of pods are processes of this machine. */
async function killServer({ status }: Pod): Promise<void> {
  const id = status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, '')
  assert.ok(id)
  const isInside = (pid: string): Promise<boolean> =>
    readFile(`/proc/${pid}/cgroup`, 'utf8').then(
      (text) => text.includes(id),
      () => false,
    )
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const inside = await Promise.all(pids.map(isInside))
  const own = pids.filter((_, index) => inside[index])
  assert.notEqual(own.length, 0)
  for (const pid of own) process.kill(Number(pid), 'SIGKILL')
}

async function allReady(): Promise<void> {
  await until(
    'every pod to be ready again',
    async () => {
      const pods = [...(await podsOf(ROLE_LABEL, 'server')), ...(await routers())]
      return pods.length >= 4 && pods.every(isReady)
    },
    MINUTES,
  )
}

describe('traffic on a real kubelet', () => {
  before(async () => {
    cluster = await nodeCluster()
    await loadServingImages(cluster)
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    directory = await mkdtemp(join(tmpdir(), 'serving-'))
    await writeFile(join(directory, 'config.yaml'), JSON.stringify({ serving: servingSettings }))
    operator = await startOperatorProcess(cluster.kubeconfig, [`--config=${join(directory, 'config.yaml')}`])
    namespace = `test-${randomBytes(4).toString('hex')}`
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
    await cluster.kubectl('wait', '-n', namespace, '--for=create', 'serviceaccount/default', '--timeout=60s')
    await makeModels(client, namespace)
    await client.create(modelDeployments, model({ v1: 90, v2: 10 }))
    await divided({ v1: 90, v2: 10 })
    const { spec } = await client.get(Service, { namespace, name: 'spiral-service' })
    url = `http://${spec?.clusterIP}:8000`
  })

  after(async () => {
    if (namespace) {
      await client.delete(modelDeployments, key())
      await client.delete(Namespace, { name: namespace })
    }
    await operator?.stop()
    await client?.close()
    if (directory) await rm(directory, { recursive: true })
  })

  const steps: readonly Weights[] = [
    { v1: 90, v2: 10 },
    { v1: 50, v2: 50 },
    { v1: 0, v2: 100 },
  ]

  test(`${REQUESTS} requests are divided exactly, at every weight, by routers that never restart`, async (t) => {
    const began = await routers()
    for (const weights of steps) {
      const ms = await turn(weights)
      const result = await ask({ requests: Math.ceil(REQUESTS / steps.length) })
      t.diagnostic(`${JSON.stringify(weights)}: in effect after ${ms} ms; ${inWords(result)}`)
      assert.deepEqual(result.failures, [])
      const total = [...result.answers.values()].reduce((sum, count) => sum + count, 0)
      for (const [version, weight] of Object.entries(weights)) {
        const share = (100 * (result.answers.get(version) ?? 0)) / total
        assert.ok(Math.abs(share - weight) < 1, `${version} got ${share} % instead of ${weight} %`)
      }
    }
    const ended = await routers()
    assert.deepEqual(uids(ended), uids(began))
    assert.ok(ended.every(({ status }) => status?.containerStatuses?.every(({ restartCount }) => restartCount === 0)))
  })

  test('weights that change under load cost no request', async (t) => {
    await turn({ v1: 100, v2: 0 })
    const { progress, done } = at({
      100: () => weigh({ v1: 90, v2: 10 }),
      500: () => weigh({ v1: 50, v2: 50 }),
      1000: () => weigh({ v1: 0, v2: 100 }),
    })
    const result = await predict({ requests: 1_500, progress })
    await done()
    t.diagnostic(inWords(result))
    assert.deepEqual(result.failures, [])
  })

  test('servers that are killed and deleted under load cost no request', async (t) => {
    await turn({ v1: 50, v2: 50 })
    await allReady()
    const [first, second] = await podsOf(VERSION_LABEL, 'v1')
    assert.ok(first && second)
    const { progress, done } = at({
      100: () => killServer(first),
      600: () => client.delete(Pod, { namespace, name: second.metadata.name }),
    })
    const result = await predict({ requests: 1_500, progress })
    await done()
    t.diagnostic(inWords(result))
    assert.deepEqual(result.failures, [])
    await allReady()
  })

  test('a router that is deleted under load lets its requests end', async (t) => {
    const [first] = await routers()
    const { progress, done } = at({ 100: () => client.delete(Pod, { namespace, name: first?.metadata.name ?? '' }) })
    const result = await predict({ requests: 1_500, progress, again: 1 })
    await done()
    t.diagnostic(inWords(result))
    assert.deepEqual(result.failures, [])
    await divided({ v1: 50, v2: 50 })
  })

  test('a version comes and one goes under load, without a lost request', async (t) => {
    const { progress, done } = at({ 100: () => weigh({ v1: 50, v3: 50 }) })
    const result = await predict({ requests: 1_500, progress })
    await done()
    await divided({ v1: 50, v3: 50, v2: 0 })
    const later = await predict({ requests: 300 })
    t.diagnostic(`${inWords(result)}; then ${inWords(later)}`)
    assert.deepEqual([...result.failures, ...later.failures], [])
    assert.deepEqual([...later.answers.keys()].toSorted(), ['v1', 'v3'])
    await until('the pods of v2 to go', async () => (await podsOf(VERSION_LABEL, 'v2')).length === 0, MINUTES)
  })
})
