/**
 * Canaries behind real data planes of the Gateway API, judged by a real Prometheus. Compiles Traefik and Envoy Gateway when they are
 * not in the cache. On a cluster of its own, because it installs the CRDs of the Gateway API.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { operatorImage } from '../../images/operator.ts'
import { modelDeployments, modelServers } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { type Cluster, startCluster } from '../../testenv/cluster.ts'
import { buildImage } from '../../testenv/image.ts'
import { missingForPrometheus } from '../../testenv/prometheus.ts'
import { installApi } from '../cluster/api.ts'
import { createNamespace, RESTRICTED } from '../cluster/namespaces.ts'
import { load, type LoadResult } from '../fixtures/load.ts'
import { account, assertFailures, totalOf } from '../fixtures/load-report.ts'
import { COUNTED_RUNTIME, countedServer, countedVersion as version } from '../gateways/counted-model.ts'
import { createGateways, type DataPlane, installGatewayApi } from '../gateways/data-plane.ts'
import { envoyGatewayPlane } from '../gateways/envoy-gateway.ts'
import { traefikPlane } from '../gateways/traefik.ts'
import { servingSettings } from '../images/served-model.ts'
import { podScrapes } from '../monitoring/pod-monitor.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import { startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const MINUTES = 5 * 60_000
const HOST = 'digits.example.com'
const REQUESTS = 20_000
const PLANES: Readonly<Record<string, (cluster: Cluster) => Promise<DataPlane>>> = {
  traefik: traefikPlane,
  'envoy-gateway': envoyGatewayPlane,
}

type Status = NonNullable<ModelDeployment['status']>

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`

let cluster: Cluster
let client: Client

/** As users write it: the API server adds the defaults. */
const modelIn = (namespace: string) => ({
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelDeployment',
  metadata: { namespace, name: 'digits' },
  spec: {
    modelName: 'digits',
    framework: 'custom',
    runtime: COUNTED_RUNTIME,
    versions: [version('v1')],
    resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { cpu: '2', memory: '256Mi' } },
    scaling: { minReplicas: 1, maxReplicas: 1 },
    traffic: { provider: 'gateway', gateways: ['public', 'closed'], hostnames: [HOST] },
    rollout: {
      steps: [
        { weight: 10, pause: true },
        { weight: 50, pause: true },
      ],
      analysis: { maxErrorRate: '5%', minRequests: 20, intervalSeconds: 5, watchSeconds: 10 },
    },
  },
})

/** A model behind one data plane. */
class Served {
  readonly key: { readonly namespace: string; readonly name: string }
  readonly #cleanups: (() => Promise<unknown>)[] = []
  url = ''

  constructor(namespace: string) {
    this.key = { namespace, name: 'digits' }
  }

  async start(dataPlane: DataPlane): Promise<void> {
    const { namespace } = this.key
    await createNamespace(client, namespace, RESTRICTED)
    this.url = await createGateways(cluster, namespace, dataPlane)
    const pods = await podScrapes(client, 'podmonitor-models')
    const prometheus = await startPrometheus(dataPlane.targets, pods.scrapes)
    this.#cleanups.push(
      () => pods.close(),
      () => prometheus.stop(),
      () => dataPlane.stop(),
    )
    const directory = await mkdtemp(join(tmpdir(), 'gateways-'))
    this.#cleanups.push(() => rm(directory, { recursive: true }))
    const file = join(directory, 'config.yaml')
    const asked = { url: prometheus.url, rateSeconds: 10, refreshSeconds: 1 }
    const serving = { ...servingSettings, ...dataPlane.serving }
    await writeFile(file, JSON.stringify({ serving, prometheus: asked }))
    const operator = await startOperatorProcess(cluster.kubeconfig, [`--config=${file}`])
    this.#cleanups.push(() => operator.stop())
    await client.create(modelServers, countedServer(namespace))
    await client.create(modelDeployments, modelIn(namespace) as unknown as ModelDeployment)
  }

  async stop(): Promise<void> {
    for (const cleanUp of this.#cleanups.toReversed()) await cleanUp()
  }

  becomes(what: string, holds: (status: Status) => boolean): Promise<Status> {
    const look = async (): Promise<Status | undefined> => {
      const { metadata, status } = await client.get(modelDeployments, this.key)
      return status && status.observedGeneration === metadata.generation && holds(status) ? status : undefined
    }
    return until(`the model to be ${what}`, look, MINUTES)
  }

  change(spec: object): Promise<unknown> {
    return client.patch(modelDeployments, this.key, { spec })
  }

  send(requests: number): Promise<LoadResult> {
    return load(this.url, { requests, connections: 16, path: '/predict', host: HOST })
  }

  /** Sends requests all the time while something happens. */
  async under(act: () => Promise<unknown>): Promise<LoadResult> {
    let isOver = false
    const options = { requests: Infinity, isOver: () => isOver, connections: 8, rate: 100, again: 2 }
    const loading = load(this.url, { ...options, path: '/predict', host: HOST })
    await act().finally(() => void (isOver = true))
    return loading
  }

  /** Milliseconds until the data plane applies a weight that the status has already. */
  async applied(name: string, percent: number): Promise<number> {
    const from = performance.now()
    const isNear = async (): Promise<boolean> => Math.abs(shareOf(name, await this.send(100)) - percent) <= 10
    await until('the data plane to apply the weights', isNear)
    return Math.round(performance.now() - from)
  }

  /** Sends many requests, and states what share of them a version got. */
  async share(name: string, percent: number): Promise<string> {
    const result = await this.send(REQUESTS)
    assert.deepEqual(result.failures, [])
    const share = shareOf(name, result)
    assert.ok(Math.abs(share - percent) <= 1, `${name} got ${share} % instead of ${percent} %`)
    return `${name} at ${percent} %: ${share.toFixed(2)} % of ${account(result)}`
  }
}

const shareOf = (name: string, result: LoadResult): number => (100 * (result.answers.get(name) ?? 0)) / totalOf(result)

const conditionOf = ({ conditions }: Status, name: string) => conditions?.find(({ type }) => type === name)
const readyOf = (status: Status) => conditionOf(status, 'Ready')

const isIn =
  (phase: string, revision: number) =>
  ({ rollout }: Status): boolean =>
    rollout?.phase === phase && rollout.revision === revision

/** Waits until one of two Gateways has accepted the stored route, and the other one has rejected it. */
async function halfAccepted(served: Served): Promise<void> {
  const look = async (): Promise<boolean> => {
    const { metadata, status } = await client.get(HTTPRoute, served.key)
    const verdicts = (status?.parents ?? []).map(({ parentRef, conditions = [] }) => {
      const accepted = conditions.find(({ type }) => type === 'Accepted')
      return `${parentRef.name} ${accepted?.observedGeneration === metadata.generation ? accepted?.status : ''}`
    })
    return verdicts.toSorted().join() === 'closed False,public True'
  }
  await until('one Gateway to accept the route, and one to reject it', look, MINUTES)
}

/** Requests arrive through the Gateway that accepts the route, but what the other one does is unknown. */
async function rejected(served: Served): Promise<void> {
  await halfAccepted(served)
  await until('requests to arrive', async () => (await served.send(1)).answers.get('v1') === 1, MINUTES)
  const status = await served.becomes('served', ({ ready }) => ready === '1/1')
  assert.deepEqual([readyOf(status)?.status, readyOf(status)?.reason], ['False', 'RouteNotInEffect'])
  await served.change({ traffic: { gateways: ['public'] } })
  await served.becomes('ready', (seen) => readyOf(seen)?.status === 'True')
}

/** The canary waits at its first step until every Gateway has accepted its weights. */
async function waiting(served: Served): Promise<void> {
  await served.change({ versions: [version('v2')], traffic: { gateways: ['public', 'closed'] } })
  await served.becomes('at its first step', ({ weights }) => weights === STEPS[0]?.weights)
  await halfAccepted(served)
  await until('requests to arrive', async () => (await served.send(20)).answers.has('v2'), MINUTES)
  const { rollout } = await served.becomes('waiting', isIn('Progressing', 2))
  assert.equal(rollout?.inEffectSince, undefined)
  assert.match(rollout?.message ?? '', /waiting for its weights to be in effect$/)
  await served.change({ traffic: { gateways: ['public'] } })
}

const STEPS = [
  { percent: 10, weights: 'v2:10 v1:90' },
  { percent: 50, weights: 'v2:50 v1:50' },
]

const isInEffect =
  (step: number) =>
  ({ rollout, weights }: Status): boolean =>
    weights === STEPS[step - 1]?.weights && rollout?.step === step && rollout.inEffectSince !== undefined

async function promoted(served: Served, t: TestContext): Promise<void> {
  const under = await served.under(async () => {
    for (const [index, { percent }] of STEPS.entries()) {
      const step = index + 1
      await served.becomes(`at step ${step}`, isInEffect(step))
      const applied = await served.applied('v2', percent)
      const at = await served.becomes('paused', (status) => isInEffect(step)(status) && isIn('Paused', 2)(status))
      assert.deepEqual([at.rollout?.analysis?.result, conditionOf(at, 'Metrics')?.reason], ['Pass', 'Prometheus'])
      t.diagnostic(`${await served.share('v2', percent)}; applied ${applied} ms after the status said so`)
      const promote = { 'modeldeployment.ml.example.com/promote': `2/${step}` }
      await client.patch(modelDeployments, served.key, { metadata: { annotations: promote } })
    }
    await served.becomes('promoted', (status) => isIn('Completed', 2)(status) && status.weights === 'v2:100')
    t.diagnostic(await served.share('v2', 100))
  })
  t.diagnostic(`beside it: ${account(under)}, ${under.repeated} repeated`)
  assertFailures(under, 0)
}

async function rolledBack(served: Served, t: TestContext): Promise<void> {
  const steps = [{ weight: 10 }, { weight: 50 }]
  const under = await served.under(async () => {
    await served.change({ versions: [version('v3', { ERRORS: '20' })], rollout: { steps } })
    await served.becomes('rolled back', (status) => isIn('RolledBack', 3)(status) && status.weights === 'v2:100')
  })
  const { rollout } = (await client.get(modelDeployments, served.key)).status ?? {}
  t.diagnostic(`${rollout?.message ?? ''}; ${account(under)}`)
  assert.deepEqual([rollout?.analysis?.metric, rollout?.step], ['errorRate', 1])
  // A tenth of the requests, of which a fifth fail.
  assertFailures(under, 0.04)
}

async function start(): Promise<void> {
  cluster = await startCluster()
  client = createClient(await configFromKubeconfig(cluster.kubeconfig))
  await cluster.node.load(await buildImage(operatorImage()))
  await installApi(client)
  await installGatewayApi(cluster)
}

describe('behind a real data plane of the Gateway API', { skip }, () => {
  before(start)
  after(async () => {
    await client.close()
    await cluster.stop()
  })

  for (const [name, startPlane] of Object.entries(PLANES))
    describe(name, () => {
      const served = new Served(name)
      before(async () => served.start(await startPlane(cluster)))
      after(() => served.stop())

      test('a route that one of its Gateways rejects is not in effect', () => rejected(served))

      test('neither are the weights of a canary', () => waiting(served))

      test('a canary gets its share at each step, and no request fails', (t) => promoted(served, t))

      test('a version that fails is rolled back by what Prometheus has counted', (t) => rolledBack(served, t))
    })
})
