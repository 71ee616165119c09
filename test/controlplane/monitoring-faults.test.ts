/** Operators that run with faults, scraped by a real Prometheus: the alerts about the operator itself fire. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import { trainingJobs } from '../../src/api/kinds.ts'
import { createCa, issue } from '../../src/kube/x509.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { kubectlFor } from '../../testenv/kubectl.ts'
import { missingForPrometheus } from '../../testenv/prometheus.ts'
import { trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { alertsOf } from '../monitoring/fired-alerts.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import type { Edit } from '../mutants/mutant.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`
const PATIENCE_MS = 180_000
const DAY_MS = 86_400_000
const LOAD_HOOK = join(import.meta.dirname, '..', 'mutants', 'load-hook.ts')

const { client, cluster } = await apiCluster()
const { kubeconfig } = await sharedCluster()
const directory = await mkdtemp(join(tmpdir(), 'faulty-operators-'))
after(() => rm(directory, { recursive: true }))

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: object }[]
  readonly users: readonly { readonly name: string; readonly user: object }[]
}

/** The kubeconfig of the cluster, with another server or another user. */
async function kubeconfigWith(name: string, change: { server?: string; token?: string }): Promise<string> {
  const { clusters, users, ...rest } = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
  const { server, token } = change
  const changed = {
    ...rest,
    clusters: clusters.map((one) => ({ ...one, cluster: { ...one.cluster, ...(server !== undefined && { server }) } })),
    users: users.map((one) => (token === undefined ? one : { ...one, user: { token } })),
  }
  const path = join(directory, name)
  await writeFile(path, stringify(changed), { mode: 0o600 })
  return path
}

/** The token of a ServiceAccount that may read everything and write nothing, so it cannot write its Lease. */
async function readerToken(t: TestContext, ns: string): Promise<string> {
  const kubectl = kubectlFor(await provideBinaries([kubernetes]), kubeconfig)
  const name = `reader-${ns}`
  const rbac = 'rbac.authorization.k8s.io'
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: ns } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: ns }],
    },
  ]
  await kubectl.with(objects, 'create')
  t.after(() => kubectl('delete', `clusterrole/${name}`, `clusterrolebinding/${name}`))
  return (await kubectl('create', 'token', '-n', ns, name)).trim()
}

/** A directory with a certificate that expires tomorrow. */
async function expiringCertificate(): Promise<string> {
  const notAfter = new Date(Date.now() + DAY_MS)
  const ca = createCa({ commonName: 'test', notAfter })
  const leaf = issue(ca, { commonName: 'operator', dnsNames: ['operator.test.svc'], usages: ['server'], notAfter })
  const files = { 'ca.crt': ca.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
  return directory
}

/** A candidate that cannot become the leader, and whose certificate nobody renews. */
async function startCandidate(t: TestContext, ns: string): Promise<OperatorProcess> {
  const reader = await kubeconfigWith('reader', { token: await readerToken(t, ns) })
  const flags = [`--namespace=${ns}`, `--lease-namespace=${ns}`, `--webhook-cert-dir=${await expiringCertificate()}`]
  const operator = await startOperatorProcess(reader, flags)
  t.after(() => operator.stop())
  return operator
}

/** A defect of the operator: an error that is not in its catalogue, for one job. */
const DEFECT: Edit = {
  file: 'src/plan/training/lifecycle.ts',
  from: '  const snapshot = snapshotOf(observed)\n  for',
  to: "  if (observed.job.metadata.name === 'defective') throw new TypeError('planted')\n  const snapshot = snapshotOf(observed)\n  for",
}

/** A leader with one worker, the defect, and a network that the test controls. */
async function startLeader(t: TestContext, ns: string) {
  const proxy = await faultProxy(cluster.server)
  const path = await kubeconfigWith('leader', { server: proxy.server })
  const flags = [`--namespace=${ns}`, '--no-leader-elect', '--no-webhook', '--concurrency=1']
  const env = { MUTANT: JSON.stringify(DEFECT) }
  const operator = await startOperatorProcess(path, flags, { imports: [LOAD_HOOK], env })
  t.after(async () => {
    proxy.restore()
    await operator.stop()
    await proxy.close()
  })
  return { operator, proxy }
}

/** Stops the process for most of the time, as a node without free CPU does, until the promise settles. */
async function starve(operator: OperatorProcess, end: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  void end.catch(() => undefined).finally(() => ended.abort())
  while (!ended.signal.aborted) {
    operator.signal('SIGSTOP')
    await delay(700)
    operator.signal('SIGCONT')
    await delay(300)
  }
  await end
}

test('each alert about the operator fires by its fault', { skip }, async (t) => {
  const ns = await namespace(t)
  const [candidate, { operator: leader, proxy }] = await Promise.all([startCandidate(t, ns), startLeader(t, ns)])
  const targets = { candidate, leader }
  const prometheus = await startPrometheus(
    Object.entries(targets).map(([job, { url }]) => ({ job, address: new URL(url).host })),
  )
  t.after(() => prometheus.stop())
  const fired: string[] = []
  const fires = async (alert: string): Promise<void> => {
    await until(`${alert} to fire`, async () => (await prometheus.firing()).has(alert), PATIENCE_MS)
    fired.push(alert)
  }
  const create = (name: string) =>
    client.create(trainingJobs, trainingJob(ns, name, { checkpoint: { enabled: false } }))
  t.after(async () => {
    for (const { metadata } of (await client.list(trainingJobs, { namespace: ns })).items)
      await client.patch(trainingJobs, { namespace: ns, name: metadata.name }, { metadata: { finalizers: null } })
  })

  await create('defective')
  await fires('MLOperatorCertificateExpiring')
  await fires('MLOperatorUnexpectedErrors')

  proxy.cut()
  await fires('MLOperatorApiErrors')
  proxy.restore()

  // Every call takes seconds, and one worker makes the calls of all jobs.
  proxy.delay(1_500)
  for (let index = 0; index < 12; index += 1) await create(`job-${index}`)
  await starve(leader, fires('MLOperatorEventLoopBlocked'))
  await fires('MLOperatorQueueSlow')
  proxy.restore()

  assert.ok(!(await prometheus.firing()).has('MLOperatorNoLeader'))
  await leader.stop()
  await fires('MLOperatorNoLeader')
  assert.ok(!(await prometheus.firing()).has('MLOperatorDown'))
  await candidate.stop()
  await fires('MLOperatorDown')
  assert.deepEqual(fired.toSorted(), alertsOf(import.meta.filename))
})
