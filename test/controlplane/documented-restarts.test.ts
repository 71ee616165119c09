/** The documented commands that restart a job and a model, run as they are written, on a real API server with a fake kubelet. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Deployment } from '../../src/kube/resources.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { versions } from '../builders/model-deployment.ts'
import { attemptOf } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { blocksIn } from '../documents/blocks.ts'
import { MODEL, servingFixture, versionIn } from '../fixtures/serving.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'

const { cluster, client, node } = await apiCluster()

/** Runs the commands below a heading, with the name of our object in place of the documented one. */
async function runDocumented(document: string, heading: string, replace: [RegExp, string], ns: string): Promise<void> {
  const { kubeconfig } = await sharedCluster()
  const binaries = await provideBinaries([kubernetes])
  const commands = blocksIn(document).filter((block) => block.heading === heading && block.language === 'sh')
  assert.ok(commands.length > 0, `${document} has commands below ${heading}`)
  const kubectl = `kubectl() { '${binaries.path('kubectl')}' --kubeconfig '${kubeconfig}' --namespace '${ns}' "$@"; }`
  for (const { text } of commands) await runCommand(['bash', '-euc', `${kubectl}\n${text.replaceAll(...replace)}`])
}

async function setUp(t: TestContext) {
  return { fixed: { cluster, client, node: node.name }, ns: await namespace(t) }
}

test('docs/training.md: a running job restarts as a new attempt that does not count as a failure', async (t) => {
  const { fixed, ns } = await setUp(t)
  const { create, runs, reaches } = trainingFixture(t, fixed, { namespace: ns })
  await create({ numWorkers: 2, backoffLimit: 0 })
  await runs(2)
  await reaches('Running')
  await runDocumented('docs/training.md', 'Restarting a job', [/tj\/bert\b/g, `tj/${NAME}`], ns)
  const workers = await runs(2)
  assert.deepEqual(workers.map(attemptOf), [2, 2])
  const { status } = await reaches('Running')
  assert.equal(status?.attempts, 2)
  assert.equal(status.failures ?? 0, 0)
})

test('docs/serving.md: the pods of every version are replaced, and the operator does not revert it', async (t) => {
  const { fixed, ns } = await setUp(t)
  const { create, reaches, pods, passesThrice } = servingFixture(t, fixed, { namespace: ns })
  const serverPods = async () => (await pods()).filter(({ metadata }) => metadata.name.startsWith(`${MODEL}-v`))
  await create({ versions: versions({ v1: 90, v2: 10 }), traffic: { provider: 'router' } })
  await reaches('Running')
  const before = (await serverPods()).map(({ metadata }) => metadata.uid)
  await runDocumented('docs/serving.md', 'Restarting pods', [/app=sentiment\b/g, `app=${MODEL}`], ns)
  await passesThrice()
  const after = (await serverPods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  assert.ok(after.every(({ metadata }) => !before.includes(metadata.uid)))
  const running = await reaches('Running')
  for (const version of ['v1', 'v2']) assert.ok((versionIn(running, version).healthyReplicas ?? 0) > 0, version)
  const { items } = await client.list(Deployment, { namespace: ns })
  const restarted = items.filter(
    ({ spec }) => spec?.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'] !== undefined,
  )
  assert.deepEqual(restarted.map(({ metadata }) => metadata.name).toSorted(), [`${MODEL}-v1`, `${MODEL}-v2`])
})
