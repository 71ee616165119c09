/**
 * Operators with permissions in some namespaces only: the installation for its own namespace, and two operators that share the
 * namespaces of a cluster. Each runs as its ServiceAccount. The audit log of the API server shows what it did.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Client } from '../../src/kube/client.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { type Deployment, Pod } from '../../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { roleOf, trainingJob } from '../builders/training-job.ts'
import { objectsWritten, requestsOf } from '../cluster/audit-log.ts'
import { documentsOf, rendered, SYSTEM } from '../cluster/chart.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { type FakeNode, fakeNode, Kubelet } from '../fakes/kubelet.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const NAMESPACED = join(import.meta.dirname, '..', '..', 'config', 'namespaced')
const account = (name: string): string => `system:serviceaccount:${SYSTEM}:${name}`

let plane: ControlPlane
let client: Client
let node: FakeNode

/** Creates a job and a model in the namespace, on a fake kubelet. */
async function addWork(t: TestContext, namespace: string): Promise<void> {
  const decide = (pod: Pod) => (roleOf(pod) === 'worker' ? { exitCode: 0 } : undefined)
  const kubelet = new Kubelet({ client, namespace, node: node.name, decide })
  t.after(() => kubelet.stop())
  await client.create(trainingJobs, trainingJob(namespace, 'job'))
  await client.create(modelDeployments, modelDeployment(namespace, 'model'))
}

async function isDone(namespace: string): Promise<void> {
  await until(`the job in ${namespace}`, async () => {
    const { status } = await client.get(trainingJobs, { namespace, name: 'job' })
    return status?.state === 'Completed'
  })
  await until(`the model in ${namespace}`, async () => {
    const { status } = await client.get(modelDeployments, { namespace, name: 'model' })
    return status?.phase === 'Running'
  })
}

/** No operator has done anything for the objects in the namespace. */
async function isUntouched(namespace: string): Promise<void> {
  const job = await client.get(trainingJobs, { namespace, name: 'job' })
  const model = await client.get(modelDeployments, { namespace, name: 'model' })
  assert.deepEqual([job.status, job.metadata.finalizers, model.status], [undefined, undefined, undefined])
  assert.deepEqual((await client.list(Pod, { namespace })).items, [])
}

/** Starts the operator of a rendered installation, with its flags and as its ServiceAccount. */
async function startAs(t: TestContext, deployment: KubeObject, ...flags: string[]): Promise<OperatorProcess> {
  const [container] = (deployment as Deployment).spec?.template.spec?.containers ?? []
  const args = (container?.args ?? []).slice(1)
  const kubeconfig = plane.kubeconfigFor({ name: account(deployment.metadata.name) })
  const operator = await startOperatorProcess(kubeconfig, [...args, `--lease-namespace=${SYSTEM}`, ...flags])
  t.after(() => operator.stop())
  return operator
}

/** Every request of the user was granted, and concerned these namespaces or kinds without a namespace. */
function staysIn(user: string, namespaces: readonly string[]): void {
  const requests = requestsOf(plane.auditLog, user)
  assert.ok(requests.length > 20, 'the audit log has its requests')
  const refused = requests.filter(({ code }) => code === 403)
  assert.deepEqual(refused, [], 'used minus granted is empty')
  const elsewhere = requests.filter(({ namespace }) => namespace !== '' && !namespaces.includes(namespace))
  assert.deepEqual(elsewhere, [])
  const clusterWide = new Set(requests.filter(({ namespace }) => namespace === '').map(({ resource }) => resource))
  const withoutNamespace = ['/nodes', 'apiextensions.k8s.io/customresourcedefinitions']
  assert.deepEqual(
    [...clusterWide].filter((resource) => !withoutNamespace.includes(resource)),
    [],
  )
}

describe('operators for some namespaces', () => {
  before(async () => {
    plane = await startControlPlane({ audit: true })
    client = createClient(await configFromKubeconfig(plane.kubeconfig))
    node = await fakeNode(client)
    for (const name of [SYSTEM, 'team-a', 'team-b', 'team-c']) await createNamespace(client, name)
    const crds = ['apply', '--server-side', '-k', join(NAMESPACED, '..', 'crd')]
    await plane.kubectl(...crds)
    await plane.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
  })

  after(async () => {
    await node.remove()
    await client.close()
    await plane.stop()
  })

  test('config/namespaced trains and serves in its own namespace, and touches no other', async (t) => {
    const manifest = await plane.kubectl('kustomize', NAMESPACED)
    const objects = documentsOf(manifest).filter(({ kind }) => kind !== 'CustomResourceDefinition')
    await plane.kubectl.with(objects, 'apply', '--server-side')
    const deployment = objects.find(({ kind }) => kind === 'Deployment')
    assert.ok(deployment)
    assert.match(manifest, /name: WATCH_NAMESPACE\n\s+valueFrom:\n\s+fieldRef:\n\s+fieldPath: metadata.namespace/)
    await plane.kubectl('-n', SYSTEM, 'scale', 'deployment', deployment.metadata.name, '--replicas=0')
    const operator = await startAs(t, deployment, `--namespace=${SYSTEM}`)
    await addWork(t, 'team-c')
    await addWork(t, SYSTEM)
    await isDone(SYSTEM)
    await isUntouched('team-c')
    await client.delete(trainingJobs, { namespace: SYSTEM, name: 'job' })
    await until(
      'the job to be gone',
      async () => (await client.list(trainingJobs, { namespace: SYSTEM })).items.length === 0,
    )
    assert.equal(await operator.stop(), 0)
    staysIn(account('ml-operator'), [SYSTEM])
  })

  test('two operators with namespaces of their own write no object of each other', async (t) => {
    const shards = await Promise.all(['a', 'b'].map((team) => renderShard(team)))
    for (const { objects } of shards) await plane.kubectl.with(objects, 'apply', '--server-side')
    const operators = await Promise.all(shards.map(({ deployment }) => startAs(t, deployment)))
    for (const team of ['team-a', 'team-b']) await addWork(t, team)
    for (const team of ['team-a', 'team-b']) await isDone(team)
    await operators[0]?.stop()
    await client.create(trainingJobs, trainingJob('team-a', 'late'))
    await client.create(trainingJobs, trainingJob('team-b', 'late'))
    await until('the other operator to go on', async () => {
      const { status } = await client.get(trainingJobs, { namespace: 'team-b', name: 'late' })
      return status?.state === 'Completed'
    })
    const orphan = await client.get(trainingJobs, { namespace: 'team-a', name: 'late' })
    assert.equal(orphan.metadata.finalizers, undefined, 'nobody takes over the namespaces of a stopped operator')
    await operators[1]?.stop()
    for (const team of ['a', 'b']) staysIn(account(`shard-${team}`), [`team-${team}`, SYSTEM])
    const [a = [], b = []] = ['a', 'b'].map((team) =>
      objectsWritten(requestsOf(plane.auditLog, account(`shard-${team}`))),
    )
    assert.ok(a.includes('team-a ml.example.com/trainingjobs job'))
    assert.ok(b.includes(`${SYSTEM} coordination.k8s.io/leases shard-b`))
    assert.deepEqual(
      a.filter((object) => b.includes(object)),
      [],
    )
  })
})

/** The objects of a release for one namespace; the CRDs are installed already, and another operator converts. */
async function renderShard(team: string) {
  const values = [`--set=fullnameOverride=shard-${team}`, `--set=watchNamespaces={team-${team}}`]
  const shared = ['--set=crds.install=false', '--set=webhook.enabled=false', '--set=replicas=1']
  const objects = documentsOf(await rendered(4, '--skip-tests', ...values, ...shared))
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  assert.ok(deployment)
  return { deployment, objects: objects.filter(({ kind }) => kind !== 'Deployment') }
}
