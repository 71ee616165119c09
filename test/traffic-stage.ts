/** A model on a real kubelet, led by the operator as users run it, and clients that send to it. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelDeployments } from '../src/api/kinds.ts'
import type { ModelDeployment } from '../src/api/modeldeployment.v1.ts'
import { routerReports } from '../src/integrations/router-reports.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { configFromKubeconfig } from '../src/kube/config.ts'
import { Namespace, Pod, Service } from '../src/kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../src/plan/model-names.ts'
import { installApi } from './api.ts'
import { load, type LoadOptions, type LoadResult } from './load.ts'
import { nodeCluster } from './node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'
import { loadServingImages, makeModels, MODELS_CLAIM, servingSettings } from './served-model.ts'
import { until } from './until.ts'

export const MINUTES = 5 * 60_000

const BODY = JSON.stringify({ features: [[0.5, -0.25]] })
const SMALL = { requests: { cpu: '50m', memory: '256Mi' }, limits: { cpu: '2', memory: '768Mi' } }
/** So many requests have ended before something happens to the rest. */
const UNDER_WAY = 50

/** Percent, by version. */
export type Weights = Readonly<Record<string, number>>

export type TrafficStage = Awaited<ReturnType<typeof trafficStage>>

export async function trafficStage(first: Weights) {
  const ends: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end()
  }
  try {
    return { ...(await begun(first, ends)), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What is begun here ends in the opposite order. */
async function begun(first: Weights, ends: (() => Promise<unknown>)[]) {
  const cluster = await nodeCluster()
  await loadServingImages(cluster)
  const client = createClient(await configFromKubeconfig(cluster.kubeconfig))
  ends.push(() => client.close())
  await installApi(client)
  const operator = await changeableOperator(cluster.kubeconfig)
  ends.push(() => operator.stop())
  const namespace = `test-${randomBytes(4).toString('hex')}`
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
  ends.push(() => client.delete(Namespace, { name: namespace }))
  await cluster.kubectl('wait', '-n', namespace, '--for=create', 'serviceaccount/default', '--timeout=60s')
  await makeModels(client, namespace)
  const key = { namespace, name: 'spiral' }
  await client.create(modelDeployments, modelOf(key, first))
  ends.push(() => client.delete(modelDeployments, key))
  const asked = questions(client, namespace)
  await asked.divided(first)
  const service = await client.get(Service, { namespace, name: 'spiral-service' })
  return { ...asked, ...clients(`http://${service.spec?.clusterIP}:8000`), ...orders(client, key), operator }
}

/** What a user does with the model. */
function orders(client: Client, key: { readonly namespace: string; readonly name: string }) {
  const change = (spec: object) => client.patch(modelDeployments, key, { spec })
  return {
    change,
    weigh: (weights: Weights) => change({ versions: versionsOf(weights) }),
    deletePod: ({ metadata: { name } }: Pod) => client.delete(Pod, { namespace: key.namespace, name }),
    becomes: (what: string, holds: (model: ModelDeployment) => unknown): Promise<ModelDeployment> =>
      until(
        `the model to be ${what}`,
        async () => {
          const model = await client.get(modelDeployments, key)
          return model.status?.observedGeneration === model.metadata.generation && holds(model) ? model : undefined
        },
        MINUTES,
      ),
  }
}

export const versionsOf = (weights: Weights) =>
  Object.entries(weights).map(([name, weight]) => {
    const file = name === 'v1' ? 'v1' : 'v2'
    return { name, weight, modelPath: `pvc://${MODELS_CLAIM}/${file}/model.pt` }
  })

const modelOf = (metadata: object, weights: Weights): ModelDeployment =>
  ({
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelDeployment',
    metadata,
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

/** An operator that can be replaced by one with other settings. */
async function changeableOperator(kubeconfig: string) {
  const directory = await mkdtemp(join(tmpdir(), 'serving-'))
  const file = join(directory, 'config.yaml')
  const start = async (settings: object): Promise<OperatorProcess> => {
    await writeFile(file, JSON.stringify({ serving: { ...servingSettings, ...settings } }))
    return startOperatorProcess(kubeconfig, [`--config=${file}`])
  }
  let running = await start({})
  return {
    replace: async (settings: object): Promise<void> => {
      await running.stop()
      running = await start(settings)
    },
    stop: async (): Promise<void> => {
      await running.stop()
      await rm(directory, { recursive: true })
    },
  }
}

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false

export const uids = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid ?? '').toSorted()

function questions(client: Client, namespace: string) {
  const all = async (labelSelector?: string): Promise<readonly Pod[]> =>
    (await client.list(Pod, { namespace, ...(labelSelector !== undefined && { labelSelector }) })).items
  const podsOf = async (label: string, value: string): Promise<readonly Pod[]> =>
    (await all(`${label}=${value}`)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const routers = () => podsOf(ROLE_LABEL, 'router')
  /** All routers say that they divide like this. */
  const isDivided = async (weights: Weights): Promise<boolean> => {
    const pods = (await routers()).filter(isReady)
    const reports = [...(await routerReports()(pods)).values()]
    const isSo = ({ versions }: (typeof reports)[number]): boolean =>
      Object.entries(weights).every(
        ([name, weight]) => (versions.find(({ version }) => version === name)?.weight ?? 0) === weight,
      )
    return pods.length >= 2 && reports.length === pods.length && reports.every(isSo)
  }
  return {
    routers,
    servers: (version: string) => podsOf(VERSION_LABEL, version),
    divided: (weights: Weights) =>
      until(`${JSON.stringify(weights)} to be in effect`, () => isDivided(weights), MINUTES),
    /** They have ended, with all that they had to do. */
    gone: (pods: readonly Pod[]) =>
      until(
        'pods to be gone',
        async () => {
          const there = new Set(uids(await all()))
          return uids(pods).every((uid) => !there.has(uid))
        },
        MINUTES,
      ),
    allReady: () =>
      until(
        'every pod to be ready again',
        async () => {
          const pods = [...(await podsOf(ROLE_LABEL, 'server')), ...(await routers())]
          return pods.length >= 4 && pods.every(isReady)
        },
        MINUTES,
      ),
  }
}

const versionIn = (text: string): string => (JSON.parse(text) as { version: string }).version

function clients(url: string) {
  const predict = (options: LoadOptions): Promise<LoadResult> =>
    load(url, { path: '/predict', body: BODY, read: versionIn, ...options })
  return {
    predict,
    /** Sends for as long as something lasts, and a little before. */
    during: async (act: () => Promise<unknown>, options: Partial<LoadOptions> = {}): Promise<LoadResult> => {
      let isOver = false
      let ended = 0
      const progress = (count: number): void => void (ended = count)
      const sent = predict({ requests: Infinity, isOver: () => isOver, progress, ...options })
      try {
        await until('requests to be under way', () => ended >= UNDER_WAY)
        await act()
      } finally {
        isOver = true
      }
      return sent
    },
  }
}
