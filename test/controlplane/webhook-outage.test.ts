/** Existing objects go on while the conversion webhook is down or its certificate has expired, and with a wrong clock. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { test, type TestContext } from 'node:test'
import { crdName } from '../../src/api/kind.ts'
import { alphaTrainingJobs, trainingJobKind, trainingJobs } from '../../src/api/kinds.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { type Clock, systemClock } from '../../src/runtime/index.ts'
import { lifetimes, renewBundle } from '../../src/webhooks/certificate-bundle.ts'
import { freePorts } from '../../testenv/ports.ts'
import { endOneFirst, trainingJob } from '../builders/training-job.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { fakeNode, Kubelet } from '../fakes/kubelet.ts'
import { client, plane, running } from '../fixtures/conversion.ts'
import { startOperator } from '../operator/operator.ts'
import { until } from '../timing/until.ts'

const HOUR_MS = 3_600_000

const alphaJob = (namespace: string, name: string) => ({
  apiVersion: 'ml.example.com/v1alpha1',
  kind: 'TrainingJob',
  metadata: { namespace, name },
  spec: { framework: 'pytorch', image: 'example.com/trainer:1', command: ['train'], workers: 2 },
})

/** Starts an operator for the namespace, on a node where rank 1 of the first attempt of a job fails. */
async function startAll(t: TestContext, namespace: string, clock: Clock = systemClock): Promise<void> {
  const cluster = await configFromKubeconfig(plane.kubeconfig)
  const node = await fakeNode(client)
  const operator = startOperator({ cluster, namespace, clock })
  const decide = endOneFirst({ exitCode: 1 }, { rank: 1, size: 2 })
  const kubelet = new Kubelet({ client, namespace, node: node.name, decide })
  t.after(() => Promise.all([operator.stop(), kubelet.stop(), node.remove()]))
}

/** The job restarts once and completes. */
async function completes(namespace: string, name: string): Promise<void> {
  const { status } = await until(`${name} to complete`, async () => {
    const job = await client.get(trainingJobs, { namespace, name })
    return job.status?.state === 'Completed' && job
  })
  assert.equal(status?.restarts, 1)
}

test('a job of v1alpha1 restarts and completes while the webhook is down', async (t) => {
  const namespace = await createNamespace(client, 'webhook-down')
  const webhook = await running(t)
  await client.create(alphaTrainingJobs, alphaJob(namespace, 'old') as never)
  await webhook.close()
  await assert.rejects(client.get(alphaTrainingJobs, { namespace, name: 'old' }), /conversion webhook .* failed/)
  await startAll(t, namespace)
  await completes(namespace, 'old')
  await client.create(trainingJobs, trainingJob(namespace, 'new'))
  await until('a job of v1 to start', async () => {
    const { status } = await client.get(trainingJobs, { namespace, name: 'new' })
    return status?.state === 'Running' || status?.state === 'Completed'
  })
})

test('a job goes on while the certificate of the webhook has expired, and conversion returns with a new one', async (t) => {
  const namespace = await createNamespace(client, 'webhook-expired')
  const first = await running(t)
  await client.create(alphaTrainingJobs, alphaJob(namespace, 'old') as never)
  await first.close()
  const port = await serveExpired(t)
  await until('the API server to reject the certificate', async () => {
    const error = await client.get(alphaTrainingJobs, { namespace, name: 'old' }).then(() => '', String)
    return error.includes(String(port)) && /certificate has expired/.test(error)
  })
  await startAll(t, namespace)
  await completes(namespace, 'old')
  await running(t)
  const { spec } = await client.get(alphaTrainingJobs, { namespace, name: 'old' })
  assert.equal(spec.workers, 2)
})

/** Publishes a webhook whose certificate expired 900 days ago. Returns its port. */
async function serveExpired(t: TestContext): Promise<number> {
  const policy = { ...lifetimes, dnsNames: [], ipAddresses: ['127.0.0.1'], authorityMs: 10_000 * 24 * HOUR_MS }
  const { leaf, authorities } = renewBundle(undefined, Date.now() - 1_000 * 24 * HOUR_MS, policy)
  const [port = 0] = await freePorts(1)
  const server = createServer({ cert: leaf.cert, key: leaf.key }, (_, response) => response.end())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close())
  const caBundle = Buffer.from(authorities.join('')).toString('base64')
  const clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle }
  const conversion = { webhook: { clientConfig } }
  await client.patch(CustomResourceDefinition, { name: crdName(trainingJobKind) }, { spec: { conversion } })
  return port
}

for (const hours of [-10, 10])
  test(`a job restarts and completes with a clock that is off by ${hours} h`, async (t) => {
    const namespace = await createNamespace(client, `clock-${hours < 0 ? 'behind' : 'ahead'}`)
    await startAll(t, namespace, { ...systemClock, now: () => Date.now() + hours * HOUR_MS })
    await client.create(trainingJobs, trainingJob(namespace, 'job', { activeDeadlineSeconds: 3_600 }))
    await completes(namespace, 'job')
  })
