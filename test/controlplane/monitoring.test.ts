/** A real Prometheus scrapes the operator, with authentication, and routers: alerts fire, and dashboards have data. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { dashboards } from '../../scripts/monitoring/dashboards/all.ts'
import { metricsPage } from '../../src/agent/router/metrics-page.ts'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { PAUSED_ANNOTATION } from '../../src/api/paused.ts'
import { type Pod, Service } from '../../src/kube/resources.ts'
import { missingForPrometheus } from '../../testenv/prometheus.ts'
import { modelDeployment, type ModelSpecInput, servingRoleOf } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { type Decide, Kubelet, type PodOutcome } from '../fakes/kubelet.ts'
import { crashLooping } from '../fakes/pod-status.ts'
import { alertsOf } from '../monitoring/fired-alerts.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import { withValues } from '../monitoring/variables.ts'
import { startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`
const NS = 'team-a'
const PATIENCE_MS = 180_000

const { plane, client, node } = await ownCluster()
/** Fewer than the jobs below, so that some have no metrics of their own. */
const METRICS_OBJECTS = 7
const operator = await startOperatorProcess(plane.kubeconfig, [
  '--metrics-auth',
  `--metrics-objects=${METRICS_OBJECTS}`,
])
await createNamespace(client, NS)

/** What happens to the pods of a job or model, by the first word of its name. */
const outcomes: Readonly<Record<string, Decide>> = {
  broken: () => ({ exitCode: 1 }),
  done: () => ({ exitCode: 0 }),
  waiting: () => 'unscheduled',
  imageless: () => 'image-missing',
  invalid: (pod) => (servingRoleOf(pod) === 'validation' ? { exitCode: 1 } : undefined),
  degraded: (pod, pods) => (isFirst(pod, pods) ? undefined : crashLooping(pod, 1)),
  emptied: (pod) => (isEmptied ? crashLooping(pod, 137) : undefined),
}

const wordOf = ({ metadata }: Pod): string => metadata.name.split('-')[0] ?? ''
const isFirst = (pod: Pod, pods: readonly Pod[]): boolean =>
  pods.every((other) => wordOf(other) !== wordOf(pod) || other.metadata.name >= pod.metadata.name)

let isEmptied = false
const decide = (pod: Pod, pods: readonly Pod[]): PodOutcome => outcomes[wordOf(pod)]?.(pod, pods)
const kubelet = new Kubelet({ client, namespace: NS, node: node.name, decide })
after(async () => {
  await kubelet.stop()
  await operator.stop()
})

async function tokenOf(name: string): Promise<string> {
  await plane.kubectl('create', 'serviceaccount', '-n', 'default', name)
  return (await plane.kubectl('create', 'token', '-n', 'default', name)).trim()
}

async function scrape(token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (await fetch(`${operator.url}/metrics`, { headers })).status
}

/** A page of a router whose counters grow with each scrape: half of the requests fail. */
async function routerPage(): Promise<string> {
  let scrapes = 0
  const server = createServer((_, response) => {
    scrapes += 1
    const counters = {
      requests: 10 * scrapes,
      errors: 5 * scrapes,
      latencyMsSum: 1,
      latencyMsP50: 10,
      latencyMsP99: 9_000,
    }
    response.end(metricsPage({ versions: [{ version: 'v1', weight: 100, ...counters }] } as never))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('/metrics needs a token with the permission to read it', async () => {
  const [reader, other] = [await tokenOf('reader'), await tokenOf('other')]
  await plane.kubectl('create', 'clusterrole', 'reader', '--non-resource-url=/metrics', '--verb=get')
  await plane.kubectl(
    'create',
    'clusterrolebinding',
    'reader',
    '--clusterrole=reader',
    '--serviceaccount=default:reader',
  )
  assert.equal(await scrape(), 401)
  assert.equal(await scrape('made-up'), 401)
  assert.equal(await scrape(other), 403)
  await until('the permission to be in effect', async () => (await scrape(reader)) === 200)
  assert.equal((await fetch(`${operator.url}/healthz`)).status, 200, 'probes need no token')
})

const key = (name: string) => ({ namespace: NS, name })

const JOBS = ['done', 'done-2', 'done-3', 'done-4', 'broken', 'waiting', 'idle', 'conflicting', 'imageless-job']

const MODELS: Readonly<Record<string, ModelSpecInput>> = {
  sentiment: {},
  'waiting-model': {},
  'imageless-model': {},
  invalid: { validation: { script: 'validate.py', timeoutSeconds: 60 } },
  degraded: { scaling: { minReplicas: 2, maxReplicas: 2 } },
  emptied: {},
}

/** Objects in the states that the alerts are about. */
async function createObjects(): Promise<void> {
  const taken = { apiVersion: 'v1', kind: 'Service', metadata: key('conflicting-workers') }
  await client.create(Service, { ...taken, spec: { ports: [{ port: 1 }] } })
  for (const name of JOBS)
    await client.create(trainingJobs, trainingJob(NS, name, { numWorkers: 1, restartPolicy: 'Never' }))
  for (const [name, spec] of Object.entries(MODELS))
    await client.create(modelDeployments, modelDeployment(NS, name, spec))
  await until('the job to run', async () => (await client.get(trainingJobs, key('idle'))).status?.state === 'Running')
  // There is no GPU exporter here: paused, the job keeps what it reports.
  await client.patch(trainingJobs, key('idle'), { metadata: { annotations: { [PAUSED_ANNOTATION]: 'true' } } })
  const reported = { progress: '45%', currentEpoch: 3, metrics: { loss: 0.2, accuracy: 0.9 } }
  const status = { ...reported, resources: { gpuUtilization: 1 } }
  await client.patch(trainingJobs, key('idle'), { status }, { subresource: 'status' })
  await until(
    'the model to run',
    async () => (await client.get(modelDeployments, key('emptied'))).status?.phase === 'Running',
  )
  isEmptied = true
  kubelet.decide(decide)
}

test('alerts fire, and every panel of the dashboards has data', { skip }, async (t) => {
  const token = (await plane.kubectl('create', 'token', '-n', 'default', 'reader')).trim()
  const prometheus = await startPrometheus([
    { job: 'operator', address: new URL(operator.url).host, token, labels: { namespace: 'ml-operator-system' } },
    { job: 'router', address: await routerPage(), labels: { namespace: NS, model: 'sentiment' } },
  ])
  t.after(() => prometheus.stop())
  await until('the operator to be scraped', async () => (await prometheus.count('up{job="operator"} == 1')) === 1)
  await createObjects()
  // Ends the watches of all caches, as an upgrade of the API server does.
  await plane.apiserver.restart()
  for (const { name, panels } of dashboards)
    for (const { title, queries } of panels)
      for (const { expr } of queries) {
        const query = withValues(expr, { range: '10m', rate: '1m' })
        await until(`data of ${name}: ${title}`, async () => (await prometheus.count(query)) > 0, PATIENCE_MS)
      }
  for (const alert of alertsOf(import.meta.filename))
    await until(`${alert} to fire`, async () => (await prometheus.firing()).has(alert), PATIENCE_MS)
})
