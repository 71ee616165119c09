/** A model is fetched from a real S3 server, or mounted from an image, into pods of a real kubelet; failures are in the status. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'

import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { modelDeployments, modelServers } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Deployment, Namespace, Pod, Secret } from '../../src/kube/resources.ts'
import { buildImage } from '../../testenv/image.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { installApi } from '../cluster/api.ts'
import { createNamespace, RESTRICTED } from '../cluster/namespaces.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { type NodeCluster, nodeCluster } from '../cluster/node-cluster.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { loadToolbox, TOOLBOX } from '../images/toolbox.ts'
import { until } from '../timing/until.ts'

const BUCKET = 'models'
const SIZE = 40_000_000
const MINUTES = 3 * 60_000
const SMALL = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '64Mi' } }
const CONFIG = {
  serving: {
    sharedMemory: '8Mi',
    fetchResources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
  },
}

let cluster: NodeCluster
let client: Client
let operator: OperatorProcess
let directory: string
let s3: S3Server
const weights = randomBytes(SIZE)
const MODEL_IMAGE = 'registry.invalid/models/bert:1'
const PARAMETERS = 'the parameters of a model\n'

/** Serves the files of the model, and uses all the CPU it gets. */
const SERVER = 'httpd -p 8080 -h "$(dirname "$MODEL_PATH")" && while :; do :; done'

async function setUp(t: TestContext) {
  const namespace = await createNamespace(client, `test-${randomBytes(4).toString('hex')}`, RESTRICTED)
  t.after(() => client.delete(Namespace, { name: namespace }))
  const metadata = { namespace, name: 's3' }
  await client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { ...s3.env } })
  await client.create(modelServers, fileServer(namespace))
  const key = { namespace, name: 'bert' }
  return {
    key,
    pods: async (): Promise<readonly Pod[]> => (await client.list(Pod, { namespace })).items,
    deploy: (modelPath: string, scaling: object, checksum?: string) =>
      client.create(
        modelDeployments,
        modelDeployment(namespace, 'bert', {
          runtime: 'files',
          image: TOOLBOX,
          resources: SMALL,
          versions: [{ name: 'v1', weight: 100, modelPath, checksum }],
          scaling,
          storage: { secretName: 's3' } as NonNullable<ModelDeployment['spec']['storage']>,
        }),
      ),
    becomes: (what: string, is: (model: ModelDeployment) => boolean) =>
      until(
        `the model to be ${what}`,
        async () => {
          const model = await client.get(modelDeployments, key)
          return is(model) && model
        },
        MINUTES,
      ),
  }
}

const fileServer = (namespace: string): ModelServer => ({
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelServer',
  metadata: { namespace, name: 'files' },
  spec: {
    image: TOOLBOX,
    port: 8080,
    model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
    command: ['sh', '-c', SERVER],
    probes: { readiness: { path: '/weights.bin', periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3 } },
  },
})

describe('a model from S3 or an image', { concurrency: true }, () => {
  before(async () => {
    cluster = await nodeCluster()
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    await cluster.load(await buildImage(operatorImage()))
    await loadToolbox()
    await cluster.load(
      await buildImage({ name: MODEL_IMAGE, files: { '/models/bert/weights.bin': { text: PARAMETERS } } }),
    )
    const { server } = await configFromKubeconfig(cluster.kubeconfig)
    s3 = await startS3({ address: new URL(server).hostname })
    await s3.createBucket(BUCKET)
    await s3.put(BUCKET, 'bert/weights.bin', weights)
    directory = await mkdtemp(join(tmpdir(), 'delivery-'))
    const config = join(directory, 'config.yaml')
    await writeFile(config, JSON.stringify(CONFIG))
    operator = await startOperatorProcess(cluster.kubeconfig, [`--config=${config}`, `--agent-image=${OPERATOR_IMAGE}`])
  })

  after(async () => {
    await operator?.stop()
    await s3?.stop()
    await client?.close()
    await rm(directory, { recursive: true, force: true })
  })

  test('is served unchanged, and scaled up under load', async (t) => {
    const { key, deploy, becomes, pods } = await setUp(t)
    const began = Date.now()
    const scaling = { minReplicas: 1, maxReplicas: 2, targetCPUUtilization: 50 }
    const checksum = `sha256:${createHash('sha256').update(weights).digest('hex')}`
    await deploy(`s3://${BUCKET}/bert/weights.bin`, scaling, checksum)
    const model = await becomes('Running', ({ status }) => status?.phase === 'Running')
    t.diagnostic(`running ${((Date.now() - began) / 1_000).toFixed(1)} s after it was created`)
    assert.equal(model.status?.url, `http://bert-service.${key.namespace}.svc:8080`)

    const [pod] = await pods()
    const log = await client.logs(
      { namespace: key.namespace, name: pod?.metadata.name ?? '' },
      { container: 'model-fetch' },
    )
    assert.match(
      log,
      /^fetching s3:\/\/models\/bert\/weights\.bin into \/mnt\/models: 1 file, 40 MB\n[^]*is complete after/,
    )
    const answer = await fetch(`http://${pod?.status?.podIP}:8080/weights.bin`)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(weights))

    const deployment = { namespace: key.namespace, name: 'bert-deployment' }
    await until('a second pod', async () => (await client.get(Deployment, deployment)).spec?.replicas === 2, MINUTES)
    await becomes('served by two', ({ status }) => status?.activeVersions?.[0]?.healthyReplicas === 2)
    t.diagnostic(`two pods ${((Date.now() - began) / 1_000).toFixed(1)} s after it was created`)
  })

  test('that does not exist is reported in the status', async (t) => {
    const { deploy, becomes } = await setUp(t)
    await deploy(`s3://${BUCKET}/nothing`, { minReplicas: 1, maxReplicas: 1 })
    const model = await becomes('not found', ({ status }) =>
      Boolean(status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'ArtifactNotFound')),
    )
    const ready = model.status?.conditions?.find(({ type }) => type === 'Ready')
    assert.equal(ready?.status, 'False')
    assert.match(
      ready.message ?? '',
      /s3:\/\/models\/nothing: there is neither an object with this key nor one below it/,
    )
  })

  test('in an image is mounted where the server expects it, and nothing is fetched', async (t) => {
    const { deploy, becomes, pods } = await setUp(t)
    const began = Date.now()
    await deploy(`oci://${MODEL_IMAGE}?path=/models/bert/weights.bin`, { minReplicas: 1, maxReplicas: 1 })
    await becomes('Running', ({ status }) => status?.phase === 'Running')
    t.diagnostic(`running ${((Date.now() - began) / 1_000).toFixed(1)} s after it was created`)
    const [pod] = await pods()
    assert.equal(pod?.spec?.initContainers, undefined)
    const answer = await fetch(`http://${pod?.status?.podIP}:8080/weights.bin`)
    assert.equal(await answer.text(), PARAMETERS)
  })

  test('in an image that does not exist is reported in the status', async (t) => {
    const { deploy, becomes } = await setUp(t)
    await deploy('oci://registry.invalid/models/nothing:1', { minReplicas: 1, maxReplicas: 1 })
    const model = await becomes('without image', ({ status }) =>
      Boolean(status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'ImagePullFailed')),
    )
    assert.match(model.status?.message ?? '', /registry\.invalid\/models\/nothing:1/)
    assert.match(model.status?.message ?? '', /check modelPath/)
  })
})
