/** Rollouts on a real kubelet: real routers count what scripted servers answer, and clients send requests all the time. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { envoyImage } from '../../images/envoy.ts'
import { operatorImage, OPERATOR_IMAGE } from '../../images/operator.ts'
import { modelDeployments, modelServers } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace, Service } from '../../src/kube/resources.ts'
import { buildImage } from '../../testenv/image.ts'
import { installApi } from '../cluster/api.ts'
import { createNamespace, RESTRICTED } from '../cluster/namespaces.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'
import { load, type LoadResult } from '../fixtures/load.ts'
import { servingSettings } from '../images/served-model.ts'
import { startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const MINUTES = 5 * 60_000
const KEY = { namespace: `test-${randomBytes(4).toString('hex')}`, name: 'digits' }

/** Answers with its version. Some requests fail, all are delayed, and `/turn-bad` makes every request fail from then on. */
const SERVER = `
const { ERRORS = '0', DELAY = '5', MODEL_VERSION } = process.env
let [count, isBad] = [0, false]
require('node:http').createServer((request, response) => {
  request.resume()
  if (request.url === '/health') return response.end()
  if (request.url === '/turn-bad') isBad = true
  count += 1
  if (isBad || count % 100 < Number(ERRORS)) response.statusCode = 500
  setTimeout(() => response.end(MODEL_VERSION), Number(DELAY))
}).listen(8080)
process.on('SIGTERM', () => process.exit())
`

const rollout = {
  steps: [{ weight: 10 }, { weight: 50 }],
  analysis: {
    maxErrorRate: '5%',
    maxLatencyRatio: '300%',
    minRequests: 20,
    intervalSeconds: 5,
    watchSeconds: 20,
  },
}

const version = (name: string, env: Readonly<Record<string, string>> = {}) => ({
  name,
  weight: 100,
  modelPath: '/app/package.json',
  env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
})

const model = {
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelDeployment',
  metadata: KEY,
  spec: {
    modelName: 'digits',
    framework: 'custom',
    runtime: 'scripted',
    versions: [version('v1')],
    resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
    scaling: { minReplicas: 1, maxReplicas: 1 },
    traffic: { provider: 'router' },
    rollout,
  },
} as unknown as ModelDeployment

const server = {
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelServer',
  metadata: { namespace: KEY.namespace, name: 'scripted' },
  spec: {
    image: OPERATOR_IMAGE,
    port: 8080,
    command: ['/usr/local/bin/node', '-e', SERVER],
    probes: { readiness: { path: '/health', periodSeconds: 1 } },
  },
} as never

let client: Client
let url = ''
const cleanups: (() => Promise<unknown>)[] = []

const becomes = (what: string, holds: (status: NonNullable<ModelDeployment['status']>) => boolean) =>
  until(
    `the model to be ${what}`,
    async () => {
      const { metadata, status } = await client.get(modelDeployments, KEY)
      return status && status.observedGeneration === metadata.generation && holds(status) ? status : undefined
    },
    MINUTES,
  )

const isIn =
  (phase: string, revision: number) =>
  ({ rollout: state }: NonNullable<ModelDeployment['status']>): boolean =>
    state?.phase === phase && state.revision === revision

/** Rolls a version out while clients send requests, until the rollout is in a phase and its weights are in effect. */
async function rolled(next: ReturnType<typeof version>, act: () => Promise<unknown>): Promise<LoadResult> {
  let isOver = false
  const loading = load(url, {
    requests: Infinity,
    isOver: () => isOver,
    connections: 8,
    rate: 150,
    path: '/predict',
    again: 2,
  })
  try {
    await client.patch(modelDeployments, KEY, { spec: { versions: [next] } })
    await act()
  } finally {
    isOver = true
  }
  return loading
}

const account = ({ answers, failures, seconds }: LoadResult): string => {
  const total = [...answers.values()].reduce((sum, count) => sum + count, failures.length)
  const shares = [...answers].map(([name, count]) => `${name} ${count}`).join(', ')
  const share = ((100 * failures.length) / total).toFixed(2)
  return `${total} requests in ${Math.round(seconds)} s: ${shares}, ${failures.length} failed (${share} %)`
}

/** Clients see only errors of the failing version, and no more than its share allows. */
function assertFailures({ answers, failures }: LoadResult, most: number): void {
  const total = [...answers.values()].reduce((sum, count) => sum + count, failures.length)
  assert.deepEqual(
    failures.filter((failure) => failure !== '500'),
    [],
  )
  assert.ok(failures.length <= most * total, `${failures.length} of ${total} requests failed`)
}

async function start(): Promise<void> {
  const cluster = await nodeCluster()
  for (const image of [operatorImage(), envoyImage()]) await cluster.load(await buildImage(image))
  client = createClient(await configFromKubeconfig(cluster.kubeconfig))
  cleanups.push(() => client.close())
  await installApi(client)
  const directory = await mkdtemp(join(tmpdir(), 'rollout-'))
  cleanups.push(() => rm(directory, { recursive: true }))
  const file = join(directory, 'config.yaml')
  await writeFile(file, JSON.stringify({ serving: servingSettings }))
  const operator = await startOperatorProcess(cluster.kubeconfig, [`--config=${file}`])
  cleanups.push(() => operator.stop())
  await createNamespace(client, KEY.namespace, RESTRICTED)
  cleanups.push(() => client.delete(Namespace, { name: KEY.namespace }))
  await client.create(modelServers, server)
  await client.create(modelDeployments, model)
  cleanups.push(() => client.delete(modelDeployments, KEY))
  await becomes('served', ({ weights, ready }) => weights === 'v1:100' && ready === '1/1')
  await becomes(
    'ready',
    ({ conditions }) => conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
  )
  const { spec } = await client.get(Service, { namespace: KEY.namespace, name: 'digits-service' })
  url = `http://${spec?.clusterIP}:8080`
}

describe('a rollout on a real kubelet', () => {
  before(start)
  after(async () => {
    for (const cleanUp of cleanups.toReversed()) await cleanUp()
  })

  test('rolls back a version that fails 20 % of its requests, at its first step', async (t) => {
    const result = await rolled(version('v2', { ERRORS: '20' }), () =>
      becomes('rolled back', (status) => isIn('RolledBack', 2)(status) && status.weights === 'v1:100'),
    )
    const { rollout: state } = (await client.get(modelDeployments, KEY)).status ?? {}
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.equal(state?.analysis?.metric, 'errorRate')
    assert.equal(state.step, 1)
    // A tenth of the requests, of which a fifth fail.
    assertFailures(result, 0.04)
  })

  test('rolls back a version that is slow relative to the stable one', async (t) => {
    const result = await rolled(version('v3', { DELAY: '100' }), () =>
      becomes('rolled back', (status) => isIn('RolledBack', 3)(status) && status.weights === 'v1:100'),
    )
    const { rollout: state } = (await client.get(modelDeployments, KEY)).status ?? {}
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.equal(state?.analysis?.metric, 'latencyMs')
    assertFailures(result, 0)
  })

  test('promotes a good version step by step, without a failed request', async (t) => {
    const seen: string[] = []
    const result = await rolled(version('v4'), () =>
      becomes('completed', (status) => {
        if (status.weights !== undefined && seen.at(-1) !== status.weights) seen.push(status.weights)
        return isIn('Completed', 4)(status) && status.weights === 'v4:100'
      }),
    )
    t.diagnostic(`${seen.join(' → ')}; ${account(result)}`)
    assert.ok(seen.includes('v4:10 v1:90') && seen.includes('v4:50 v1:50'), seen.join(' → '))
    assertFailures(result, 0)
  })

  test('rolls back a version that turns bad after its promotion', async (t) => {
    const result = await rolled(version('v5'), async () => {
      await becomes('watched', isIn('Watching', 5))
      await fetch(`${url}/turn-bad`)
      await becomes('rolled back', (status) => isIn('RolledBack', 5)(status) && status.weights === 'v4:100')
    })
    const { rollout: state, history } = (await client.get(modelDeployments, KEY)).status ?? {}
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.deepEqual(
      history?.map(({ result: how }) => how),
      ['Completed', 'RolledBack', 'RolledBack', 'Completed', 'RolledBack'],
    )
    assert.deepEqual(
      result.failures.filter((failure) => failure !== '500'),
      [],
    )
  })
})
