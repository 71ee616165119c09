/** Writes that the API server rejects: reported once, in plain words, and retried no more often than the backoff allows. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Event, Service } from '../../src/kube/resources.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { Audit } from '../client/audit.ts'
import { createPodQuota } from '../cluster/quota.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { type OperatorOptions, startOperator } from '../operator/operator.ts'
import { startServing } from '../operator/serving-operator.ts'
import { trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const { cluster, client } = await apiCluster()

test('reports a quota once', async (t) => {
  const ns = await namespace(t)
  const key = { namespace: ns, name: 'bert' }
  await createPodQuota(client, ns, 0)
  const operator = startOperator({ cluster, namespace: ns })
  t.after(async () => {
    await operator.stop()
    await client.patch(trainingJobs, key, { metadata: { finalizers: null } })
  })
  await client.create(trainingJobs, trainingJob(ns, 'bert'))
  const { status } = await until('the reason', async () => {
    const job = await client.get(trainingJobs, key)
    return job.status?.reason === undefined ? undefined : job
  })
  const message = 'quota small is exceeded: requested pods=1, used pods=0, limited to pods=0'
  assert.deepEqual([status?.state, status?.reason], ['Pending', `QuotaExceeded: ${message}`])
  const passes = await operator.passes()
  await until('three more passes', async () => (await operator.passes()) >= passes + 3)
  const { items } = await client.list(Event, { namespace: ns })
  const reported = items.filter(({ regarding, type }) => regarding?.kind === 'TrainingJob' && type === 'Warning')
  assert.deepEqual(
    reported.map(({ reason, note, series }) => [reason, note, series?.count]),
    [['ReconcileFailed', `QuotaExceeded: ${message}`, undefined]],
  )
})

const policyKind = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind,
  plural,
  namespaced: false,
})
const policies = policyKind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
const bindings = policyKind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings')

/** Rejects every Service of a namespace with a different message each time: an id of letters only. */
async function rejectServices(t: TestContext, ns: string): Promise<void> {
  const letters = Array.from('0123456789').reduce(
    (text, digit) => `${text}.replace('${digit}', '${'ghijklmnop'[Number(digit)]}')`,
    'object.metadata.uid',
  )
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name: `reject-${ns}` }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] }
  const validation = { expression: 'false', messageExpression: `'denied, request ' + ${letters}.replace('-', '')` }
  await client.create(policies, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [validation] },
  } as KubeObject)
  const matchLabels = { 'kubernetes.io/metadata.name': ns }
  await client.create(bindings, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: {
      policyName: metadata.name,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels } },
    },
  } as KubeObject)
  t.after(() => Promise.all([client.delete(bindings, metadata), client.delete(policies, metadata)]))
  const probe = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: ns, name: 'probe' },
    spec: { ports: [{ port: 80 }] },
  }
  await until('the policy to be in effect', () =>
    client.create(Service, probe, { dryRun: true }).then(
      () => false,
      (error: Error) => error.message.includes('denied, request'),
    ),
  )
}

/** The minimum time of this many failures in a row: half of 200 ms, 400 ms, 800 ms … */
const leastMs = (failures: number): number => 100 * (2 ** failures - 1)

type Scope = Required<Pick<OperatorOptions, 'cluster' | 'namespace' | 'interceptors'>>

const cases: readonly (readonly [
  Resource,
  (ns: string) => KubeObject,
  (scope: Scope) => ReturnType<typeof startOperator>,
])[] = [
  [trainingJobs, (ns) => trainingJob(ns, 'bert'), startOperator],
  [
    modelDeployments,
    (ns) => modelDeployment(ns, 'bert', {}),
    (scope) => startServing({ ...scope, readReports: async () => new Map() }),
  ],
]

for (const [resource, object, start] of cases)
  test(`retries a ${resource.kind} no more often than the backoff allows, however the rejection is worded`, async (t) => {
    const ns = await namespace(t)
    const key = { namespace: ns, name: 'bert' }
    await rejectServices(t, ns)
    const audit = new Audit()
    const operator = start({ cluster, namespace: ns, interceptors: [audit.interceptor] })
    t.after(async () => {
      await operator.stop()
      await client.patch(resource, key, { metadata: { finalizers: null } })
    })
    const began = performance.now()
    await client.create(resource, object(ns))
    const attempts = () => audit.writes.filter(({ what }) => what.startsWith('services/')).length
    const statuses = () => audit.writes.filter(({ what }) => what.endsWith('/status')).length
    await until('seven attempts', () => attempts() >= 7)
    // The first attempt may be repeated at once, because the job was accepted in it.
    assert.ok(performance.now() - began >= leastMs(5), `${attempts()} attempts in ${performance.now() - began} ms`)
    assert.ok(statuses() <= attempts(), `${statuses()} status writes for ${attempts()} attempts`)
  })
