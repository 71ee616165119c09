/** The built-in runtime `sklearn` with a real MLServer, a real model that our agent fetches, and real probes. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'

import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { sklearnServerImage } from '../../images/sklearn-server.ts'
import { modelDeployments } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Event, Namespace, Pod, Secret } from '../../src/kube/resources.ts'
import { sklearn } from '../../src/plan/serving/runtimes/sklearn.ts'
import { buildImage } from '../../testenv/image.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { installApi } from '../cluster/api.ts'
import { createNamespace, RESTRICTED } from '../cluster/namespaces.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { conditionOf } from '../fixtures/serving.ts'
import { until } from '../timing/until.ts'

const MINUTES = 5 * 60_000
const BUCKET = 'models'
const MODEL = 'line'
const RESOURCES = { requests: { cpu: '50m', memory: '256Mi' }, limits: { cpu: '2', memory: '1Gi' } }
const CONFIG = {
  serving: {
    sharedMemory: '8Mi',
    fetchResources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
  },
}

/** How long the model takes to load. */
const LOADING_SECONDS = 5

/** A hand-written pickle that trains the model when it is unpickled: y = 2 x + 1. */
const TRAINED = "__import__('sklearn.linear_model').linear_model.LinearRegression().fit([[0], [1]], [1, 3])"
const PICKLE = `cbuiltins\neval\n(V(__import__('time').sleep(${LOADING_SECONDS}), ${TRAINED})[1]\ntR.`

let client: Client
let operator: OperatorProcess
let directory: string
let s3: S3Server

async function setUp(t: TestContext) {
  const namespace = await createNamespace(client, `test-${randomBytes(4).toString('hex')}`, RESTRICTED)
  t.after(() => client.delete(Namespace, { name: namespace }))
  const metadata = { namespace, name: 's3' }
  await client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { ...s3.env } })
  const spec = { framework: 'sklearn', image: undefined, resources: RESOURCES, storage: { secretName: 's3' } } as const
  return {
    namespace,
    deploy: (modelPath: string) =>
      client.create(
        modelDeployments,
        modelDeployment(namespace, MODEL, { ...spec, versions: [{ name: 'v1', weight: 100, modelPath }] } as object),
      ),
    becomes: (what: string, is: (model: ModelDeployment) => boolean) =>
      until(
        `the model to be ${what}`,
        async () => {
          const model = await client.get(modelDeployments, { namespace, name: MODEL })
          return is(model) && model
        },
        MINUTES,
      ),
  }
}

async function serverOf(namespace: string) {
  const [pod] = (await client.list(Pod, { namespace })).items
  const server = pod?.status?.containerStatuses?.[0]
  assert.ok(pod && server)
  return { address: pod.status?.podIP ?? '', server }
}

/** Sends a request through the Service, as clients do. */
async function predict(namespace: string, data: readonly number[]): Promise<number[] | undefined> {
  const path = `/api/v1/namespaces/${namespace}/services/${MODEL}-service:8080/proxy/v2/models/${MODEL}/infer`
  const inputs = [{ name: 'x', shape: [data.length, 1], datatype: 'FP64', data }]
  const answer = await client.request({ method: 'POST', path, body: { inputs } })
  return (answer as { outputs: { data: number[] }[] }).outputs[0]?.data.map(Math.round)
}

const secondsOf = (time = ''): number => Date.parse(time) / 1_000

describe('scikit-learn on MLServer', { concurrency: true }, () => {
  before(async () => {
    const cluster = await nodeCluster()
    const config = await configFromKubeconfig(cluster.kubeconfig)
    client = createClient(config)
    await installApi(client)
    for (const spec of [operatorImage(), sklearnServerImage(sklearn.image)]) await cluster.load(await buildImage(spec))
    s3 = await startS3({ address: new URL(config.server).hostname })
    await s3.createBucket(BUCKET)
    await s3.put(BUCKET, 'line/model.joblib', Buffer.from(PICKLE))
    await s3.put(BUCKET, 'broken/model.joblib', Buffer.from('this is no model'))
    directory = await mkdtemp(join(tmpdir(), 'sklearn-'))
    const settings = join(directory, 'config.yaml')
    await writeFile(settings, JSON.stringify(CONFIG))
    const flags = [`--config=${settings}`, `--agent-image=${OPERATOR_IMAGE}`]
    operator = await startOperatorProcess(cluster.kubeconfig, flags)
  })

  after(async () => {
    await operator?.stop()
    await s3?.stop()
    await client?.close()
    await rm(directory, { recursive: true, force: true })
  })

  test('a model is ready once it is loaded, and responds through its Service', async (t) => {
    const { namespace, deploy, becomes } = await setUp(t)
    await deploy(`s3://${BUCKET}/line/model.joblib`)
    const model = await becomes('ready', (now) => conditionOf(now, 'Ready').status === 'True')

    const { address, server } = await serverOf(namespace)
    const readyAt = secondsOf(conditionOf(model, 'Ready').lastTransitionTime)
    const took = readyAt - secondsOf(server.state?.running?.startedAt)
    t.diagnostic(`ready ${took} s after the server was started`)
    assert.ok(took >= LOADING_SECONDS, `ready after ${took} s, before the model was loaded`)
    assert.equal(server.restartCount, 0)
    assert.deepEqual(await predict(namespace, [3, 10]), [7, 21])
    const metrics = await fetch(`http://${address}:8082/metrics`)
    assert.match(await metrics.text(), /model_infer_request_success_total\{model="line"/)
  })

  test('a model that cannot be loaded is never ready, and the status says how to find the cause', async (t) => {
    const { namespace, deploy, becomes } = await setUp(t)
    await deploy(`s3://${BUCKET}/broken/model.joblib`)
    const model = await becomes('failed', ({ status }) => status?.phase === 'Failed')
    const ready = conditionOf(model, 'Ready')
    assert.deepEqual([ready.status, ready.reason], ['False', 'CrashLoopBackOff'])
    assert.match(ready.message ?? '', /v1.*the server terminated with exit code .* see kubectl logs -n test-\S+ line-/)
    t.diagnostic(ready.message ?? '')
    const events = await until('an event CrashLoopBackOff', async () => {
      const reasons = (await client.list(Event, { namespace })).items.map(({ reason }) => reason)
      return reasons.includes('CrashLoopBackOff') && reasons
    })
    assert.ok(!events.includes('ModelReady'), events.join(' '))
  })
})
