/** Two versions of one kind through a real API server, the webhook that converts between them, and its certificates. */

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, before, test, type TestContext } from 'node:test'
import { HIDDEN_FIELDS } from '../../src/api/conversion.ts'
import { CONVERSION_SERVICE } from '../../src/api/crd.ts'
import { alphaTrainingJobs, trainingJobs } from '../../src/api/kinds.ts'
import type { AlphaTrainingJob } from '../../src/api/trainingjob.v1alpha1.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ApiError } from '../../src/kube/errors.ts'
import type { Interceptor } from '../../src/kube/interceptor.ts'
import type { Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition, Namespace } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { createLogger } from '../../src/runtime/log.ts'
import { lifetimes, type Lifetimes, renewed } from '../../src/webhooks/certificate-bundle.ts'
import { loadBundle, storeBundle } from '../../src/webhooks/certificate-secret.ts'
import {
  type ConversionWebhook,
  type ConversionWebhookOptions,
  startConversionWebhook,
} from '../../src/webhooks/conversion-webhook.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { freePorts } from '../../testenv/ports.ts'
import { installApi, manifestsIn } from '../api.ts'
import { completeAlphaTrainingJob, completeTrainingJob, flaws, type Manifest } from '../manifests.ts'
import { until } from '../until.ts'

const SECRET = { namespace: 'ml-operator-system', name: 'ml-operator-webhook' }
const PLACES = ['ml-operator-system', 'ml-models', 'ml-team', 'team-a', 'ml-jobs']

let plane: ControlPlane
let client: Client
const warnings: string[] = []
const failures: string[] = []
let deferrals = 0

/** Keeps what the server complains about, attempt by attempt: a repeated call must not hide a failed one. */
const listener: Interceptor = async (call, next) => {
  const response = await next(call)
  if (response.headers['warning'] !== undefined) warnings.push(`${call.path}: ${String(response.headers['warning'])}`)
  if (response.status === 429) deferrals += 1
  if (response.status >= 500) failures.push(`${call.path}: ${response.status} ${JSON.stringify(response.body)}`)
  return response
}

before(async () => {
  plane = await startControlPlane()
  client = createClient(await configFromKubeconfig(plane.kubeconfig), { interceptors: [listener] })
  for (const name of PLACES) await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await installApi(client)
})

after(async () => {
  await client.close()
  await plane.stop()
})

type WebhookOptions = Partial<Pick<ConversionWebhookOptions, 'client' | 'endpoint' | 'lifetimes' | 'pollMs' | 'port'>>

async function startWebhook({ port, pollMs = 200, ...options }: WebhookOptions = {}): Promise<ConversionWebhook> {
  const [free = 0] = port === undefined ? await freePorts(1) : [port]
  return startConversionWebhook({
    client,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    endpoint: { url: `https://127.0.0.1:${free}/convert` },
    secret: SECRET,
    host: '127.0.0.1',
    port: free,
    pollMs,
    ...options,
  })
}

/** The webhook is ready, and the API server has heard of it: it hears of a changed definition a moment later. */
async function converting(webhook: ConversionWebhook): Promise<void> {
  await until('the webhook to be ready', () => webhook.check() === undefined)
  await until('the API server to convert', () => client.create(alphaTrainingJobs, alphaJob('probe'), { dryRun: true }))
  failures.length = 0
}

/** A webhook for one test, which may close it earlier. */
async function running(t: TestContext, options: WebhookOptions = {}): Promise<ConversionWebhook> {
  const webhook = await startWebhook(options)
  t.after(() => webhook.close())
  await converting(webhook)
  return webhook
}

const alphaJob = (name: string, namespace = 'ml-jobs'): AlphaTrainingJob =>
  ({ ...completeAlphaTrainingJob.manifest, metadata: { name, namespace } }) as unknown as AlphaTrainingJob

const job = (name: string, namespace = 'ml-jobs'): TrainingJob =>
  ({ ...completeTrainingJob.manifest, metadata: { name, namespace } }) as unknown as TrainingJob

test('the definitions are accepted without a warning', async () => {
  assert.deepEqual(warnings, [])
  const { items } = await client.list(CustomResourceDefinition)
  assert.equal(items.length, 4)
  for (const { status } of items) {
    const bad = status?.conditions?.filter(({ type, status: is }) => type === 'NonStructuralSchema' && is === 'True')
    assert.deepEqual(bad, [])
  }
})

test('v1 does not need the webhook', async () => {
  await client.create(trainingJobs, job('alone'))
  await client.patch(trainingJobs, { namespace: 'ml-jobs', name: 'alone' }, { spec: { backoffLimit: 1 } })
  await client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'alone' })
})

test('every manifest of the seeds and every example is accepted as it stands', async (t) => {
  await running(t)
  const files = [...(await manifestsIn('test/acceptance')), ...(await manifestsIn('examples'))]
  assert.ok(files.length >= 14)
  for (const { file } of files) {
    await plane.kubectl('apply', '--dry-run=server', '--validate=strict', '-f', file)
    await plane.kubectl('apply', '--validate=strict', '-f', file)
    await plane.kubectl('apply', '--server-side', '--force-conflicts', '-f', file)
  }
  assert.deepEqual(failures, [])
  assert.deepEqual(warnings, [])
})

test('kubectl shows the columns, the short names, the category and the descriptions', async (t) => {
  await running(t)
  const columns = async (...args: string[]): Promise<string[]> =>
    (await plane.kubectl('get', ...args)).split('\n')[0]?.split(/\s+/).filter(Boolean) ?? []
  assert.deepEqual(await columns('tj', '-n', 'default'), ['NAME', 'STATE', 'PROGRESS', 'EPOCH', 'WORKERS', 'AGE'])
  assert.deepEqual(await columns('md', '-n', 'ml-models'), ['NAME', 'FRAMEWORK', 'PHASE', 'REPLICAS', 'AGE'])
  assert.deepEqual(await columns('trainingjobs.v1alpha1.ml.example.com', '-n', 'ml-team'), [
    'NAME',
    'FRAMEWORK',
    'WORKERS',
    'PHASE',
    'AGE',
  ])
  const listed = await plane.kubectl('get', 'tj,md,ms', '-A')
  for (const name of ['test-job', 'mnist-training', 'sentiment-analysis', 'my-server'])
    assert.match(listed, new RegExp(name))
  const all = await plane.kubectl('get', 'ml', '-A')
  for (const name of ['test-job', 'sentiment-analysis', 'my-server', 'custom-model'])
    assert.match(all, new RegExp(name))
  assert.match(await plane.kubectl('explain', 'tj.spec.checkpoint.storage.path'), /Where the checkpoints go/)
  assert.match(await plane.kubectl('explain', 'md.spec.versions.weight'), /sum to 100/)
  assert.match(
    await plane.kubectl('explain', 'tj', '--api-version=ml.example.com/v1alpha1', '--recursive'),
    /checkpointDir/,
  )
  await assert.rejects(
    plane.kubectl.with([{ ...job('typo', 'default'), spec: { ...job('typo').spec, gpuPerWorker: 1 } }], 'create'),
    /unknown field "(spec\.)?gpuPerWorker"/,
  )
})

test('kubectl wait sees a condition', async (t) => {
  await client.create(trainingJobs, job('waited'))
  t.after(() => client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'waited' }))
  const waiting = plane.kubectl('wait', '--for=condition=Complete', 'tj/waited', '-n', 'ml-jobs', '--timeout=60s')
  const condition = {
    type: 'Complete',
    status: 'True',
    reason: 'Done',
    message: 'all epochs',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  }
  await client.patch(
    trainingJobs,
    { namespace: 'ml-jobs', name: 'waited' },
    { status: { state: 'Completed', conditions: [condition] } },
    { subresource: 'status' },
  )
  assert.match(await waiting, /condition met/)
})

test('bad v1alpha1 manifests are refused by the name of their field', async (t) => {
  await running(t)
  const { resource, manifest } = completeAlphaTrainingJob
  const byHand = [
    { spec: { ...manifest.spec, checkpointDir: '/a/../b' }, field: 'checkpointDir' },
    { spec: { ...manifest.spec, checkpointDir: 's3://bucket' }, field: 'checkpointDir' },
    { spec: { ...manifest.spec, workers: 101 }, field: 'workers' },
    { spec: { ...manifest.spec, framework: 'jax' }, field: 'framework' },
    { spec: { ...manifest.spec, hyperparameters: { learningRate: 'fast' } }, field: 'learningRate' },
    { spec: { ...manifest.spec, dataVolume: { claimName: '../x' } }, field: 'claimName' },
  ]
  const bad = [...flaws(completeAlphaTrainingJob), ...byHand]
  for (const { spec, field } of bad) {
    const broken = { ...manifest, metadata: { name: 'bad', namespace: 'ml-jobs' }, spec } as Manifest
    await assert.rejects(client.create(resource, broken, { dryRun: true }), (error: unknown) => {
      assert.ok(error instanceof ApiError && [400, 422].includes(error.code), String(error))
      assert.ok(error.message.includes(field), `${field} is not in: ${error.message}`)
      return true
    })
  }
  await client.create(alphaTrainingJobs, alphaJob('fixed'))
  const key = { namespace: 'ml-jobs', name: 'fixed' }
  await assert.rejects(client.patch(alphaTrainingJobs, key, { spec: { gpuPerWorker: 2 } }), /gpuPerWorker is immutable/)
  await client.delete(alphaTrainingJobs, key)
  t.diagnostic(`${bad.length} bad manifests refused`)
})

test('a job created in one version is read and changed in both, across a restart of the webhook', async (t) => {
  const first = await running(t)
  const key = { namespace: 'ml-jobs', name: 'both' }
  const created = await client.create(alphaTrainingJobs, alphaJob('both'))
  assert.deepEqual(created.spec, completeAlphaTrainingJob.manifest.spec)
  assert.equal(created.metadata.annotations, undefined)

  const stored = await client.get(trainingJobs, key)
  assert.equal(stored.spec.numWorkers, 4)
  assert.deepEqual(stored.spec.elastic, { minWorkers: 1, maxWorkers: 100 })
  await client.patch(trainingJobs, key, { spec: { backoffLimit: 7, elastic: { minWorkers: 2, maxWorkers: 6 } } })
  await client.patch(trainingJobs, key, { status: { state: 'Restarting', progress: '45%' } }, { subresource: 'status' })
  await first.close()
  await running(t)

  const seen = await client.get(alphaTrainingJobs, key)
  assert.deepEqual(seen.spec, created.spec)
  assert.equal(seen.status?.phase, 'Running')
  assert.ok(seen.metadata.annotations?.[HIDDEN_FIELDS])

  await plane.kubectl(
    'patch',
    'trainingjobs.v1alpha1.ml.example.com',
    'both',
    '-n',
    'ml-jobs',
    '--type=json',
    '-p=[{"op": "replace", "path": "/spec/workers", "value": 5}]',
  )
  await client.patch(alphaTrainingJobs, key, { status: { phase: 'Succeeded' } }, { subresource: 'status' })
  const final = await client.get(trainingJobs, key)
  assert.equal(final.spec.numWorkers, 5)
  assert.equal(final.spec.backoffLimit, 7)
  assert.deepEqual(final.spec.elastic, { minWorkers: 2, maxWorkers: 6 })
  assert.deepEqual(final.status, { state: 'Completed', progress: '45%' })
  assert.equal(final.metadata.annotations, undefined)

  await client.apply(alphaTrainingJobs, { ...alphaJob('both'), spec: { workers: 3 } } as unknown as AlphaTrainingJob, {
    force: true,
  })
  assert.equal((await client.get(trainingJobs, key)).spec.numWorkers, 3)
  await client.delete(alphaTrainingJobs, key)
  assert.deepEqual(failures, [])
})

test('a v1 job that v1alpha1 cannot express is listed there, and comes back unchanged from a replace', async (t) => {
  await running(t)
  const key = { namespace: 'ml-jobs', name: 'hidden' }
  const created = await client.create(trainingJobs, job('hidden'))
  const { items } = await client.list(alphaTrainingJobs, { namespace: 'ml-jobs' })
  const seen = items.find(({ metadata }) => metadata.name === 'hidden')
  assert.ok(seen)
  await client.update(alphaTrainingJobs, { ...seen, metadata: { ...seen.metadata, labels: { touched: 'yes' } } })
  const replaced = await client.get(trainingJobs, key)
  assert.deepEqual(replaced.spec, created.spec)
  assert.equal(replaced.metadata.labels?.['touched'], 'yes')
  assert.equal(replaced.metadata.annotations, undefined)
  await client.delete(trainingJobs, key)
})

test('while the webhook is away, a job created in v1alpha1 goes on being worked on in v1', async (t) => {
  const webhook = await running(t)
  const key = { namespace: 'ml-jobs', name: 'orphaned' }
  await client.create(alphaTrainingJobs, alphaJob('orphaned'))
  await webhook.close()

  const status = { state: 'Running' }
  await client.patch(trainingJobs, key, { status }, { subresource: 'status' })
  const applied = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata: key,
    status,
  } as unknown as TrainingJob
  await client.apply(trainingJobs, applied, { subresource: 'status', force: true })
  await client.patch(trainingJobs, key, {
    spec: { backoffLimit: 1 },
    metadata: { finalizers: ['ml.example.com/test'] },
  })
  await client.patch(trainingJobs, key, { metadata: { finalizers: null } })
  await client.delete(trainingJobs, key)
  assert.deepEqual(failures, [])
})

test('a watch in one version sees changes made in the other', async (t) => {
  await running(t)
  const stop = new AbortController()
  t.after(() => stop.abort())
  await client.create(trainingJobs, job('watched'))
  const key = { namespace: 'ml-jobs', name: 'watched' }
  for await (const update of watch(client, alphaTrainingJobs, { namespace: 'ml-jobs', signal: stop.signal })) {
    if (update.type === 'replace') await client.patch(trainingJobs, key, { spec: { numWorkers: 7 } })
    if (update.type !== 'apply' || update.object.spec.workers !== 7) continue
    assert.equal(update.object.apiVersion, 'ml.example.com/v1alpha1')
    break
  }
  await client.delete(trainingJobs, { namespace: 'ml-jobs', name: 'watched' })
})

const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }

test('replicas that start together share one authority and one certificate', async (t) => {
  await client.delete(secrets, SECRET)
  const [a = 0] = await freePorts(1)
  const replicas = await Promise.all([startWebhook({ port: a }), startWebhook(), startWebhook()])
  t.after(() => Promise.all(replicas.map((replica) => replica.close())))
  await until('all to be ready', () => replicas.every((replica) => replica.check() === undefined))
  assert.equal(new Set(replicas.map((replica) => replica.certificateExpiresAt)).size, 1)
  const { bundle } = await loadBundle(client, SECRET)
  assert.equal(bundle?.authorities.length, 1)
})

test('inside a cluster the definition names the Service, and the certificate too', async (t) => {
  await client.delete(secrets, SECRET)
  const [port = 0] = await freePorts(1)
  const webhook = await startWebhook({ port, endpoint: { service: CONVERSION_SERVICE } })
  t.after(() => webhook.close())
  await until('the webhook to be ready', () => webhook.check() === undefined)
  const { spec } = await client.get(CustomResourceDefinition, { name: 'trainingjobs.ml.example.com' })
  assert.deepEqual(spec.conversion?.webhook?.clientConfig?.service, CONVERSION_SERVICE)
  assert.equal(spec.conversion?.webhook?.clientConfig?.url, undefined)
  const { bundle } = await loadBundle(client, SECRET)
  assert.ok(bundle)
  assert.equal(
    Buffer.from(spec.conversion?.webhook?.clientConfig?.caBundle ?? '', 'base64').toString(),
    bundle.authorities.join(''),
  )
  const name = 'ml-operator-webhook.ml-operator-system.svc'
  assert.equal(new X509Certificate(bundle.leaf.cert).checkHost(name), name)
})

test('without the right to publish it is not ready, and says why', async (t) => {
  const nobody = createClient(await configFromKubeconfig(plane.kubeconfigFor({ name: 'nobody' })))
  t.after(() => nobody.close())
  const webhook = await startWebhook({ client: nobody })
  t.after(() => webhook.close())
  await until('the reason', () => /secrets .*is forbidden/.test(webhook.check() ?? ''))
})

test('certificates that expired while nobody was there are replaced before readiness', async (t) => {
  const stored = await loadBundle(client, SECRET)
  const policy = { ...lifetimes, dnsNames: [], ipAddresses: ['127.0.0.1'] }
  await storeBundle(client, SECRET, renewed(undefined, Date.now() - 1000 * 86_400_000, policy), stored)
  const webhook = await running(t)
  assert.ok((webhook.certificateExpiresAt ?? 0) > Date.now())
})

test('leaf and authority are renewed and expire under load, and no call fails', async (t) => {
  await client.delete(secrets, SECRET)
  const short: Lifetimes = { authorityMs: 36_000, leafMs: 12_000, settleMs: 6_000 }
  await running(t, { lifetimes: short, pollMs: 100 })
  const { bundle: first } = await loadBundle(client, SECRET)
  assert.ok(first)
  await client.create(trainingJobs, job('rotated'))
  const shown = new Set<string>()
  deferrals = 0
  const firstAuthorityEnds = new X509Certificate(first.authorities[0]).validToDate.getTime()
  let calls = 0
  while (Date.now() < firstAuthorityEnds + 1_000) {
    const { spec } = await client.get(alphaTrainingJobs, { namespace: 'ml-jobs', name: 'rotated' })
    assert.equal(spec.workers, 4)
    calls += 1
    if (calls % 10 === 0) shown.add((await loadBundle(client, SECRET)).bundle?.leaf.cert ?? '')
  }
  const { bundle: last } = await loadBundle(client, SECRET)
  assert.ok(last && !last.authorities.includes(first.authorities[0]), 'the first authority is gone')
  assert.ok(shown.size >= 4, `${shown.size} certificates`)
  assert.deepEqual(failures, [])
  t.diagnostic(`${calls} calls over ${shown.size} certificates, none failed, ${deferrals} asked to wait`)
})
