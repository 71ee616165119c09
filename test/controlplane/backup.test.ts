/** A backup of one cluster restored into another, whose operator runs. The objects get new uids there. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelDeployments, trainingJobs, trainingSchedules } from '../../src/api/kinds.ts'
import { PAUSED_ANNOTATION } from '../../src/api/paused.ts'
import { saveAll } from '../../src/backup.ts'
import { controllerOf, type KubeObject } from '../../src/kube/object.ts'
import { Deployment, Pod } from '../../src/kube/resources.ts'
import { objectsIn, restoreAll } from '../../src/restore.ts'
import { succeedTogether, trainingJob } from '../builders/training-job.ts'
import { trainingSchedule } from '../builders/training-schedule.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { servingOutcome } from '../fakes/routers.ts'
import { servingFixture } from '../fixtures/serving.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const old = await apiCluster()
const fresh = await ownCluster()
type TestCluster = typeof old

const RUNNING = 'gpt'

/** The garbage collector looks for new CRDs every 30 s, and retries with an increasing delay until it knows the kind of an owner. */
const COLLECTED_MS = 180_000

const isWorkerOf = (pod: Pod, job: string): boolean => pod.metadata.name.startsWith(`${job}-workers-`)

/** The workers of `bert` succeed, those of `gpt` run until `finish`. Other pods serve. */
const decideFor =
  (finish: boolean): Decide =>
  (pod, pods) => {
    const job = [NAME, RUNNING].find((name) => isWorkerOf(pod, name))
    if (job === undefined) return servingOutcome()(pod)
    return job === NAME || finish
      ? succeedTogether(2)(
          pod,
          pods.filter((one) => isWorkerOf(one, job)),
        )
      : undefined
  }

/** Operators for training and serving in a namespace, with one kubelet. */
function operate(t: TestContext, { cluster, client, node }: TestCluster, ns: string, decide: Decide) {
  const options = { namespace: ns, resyncMs: 200 }
  const training = trainingFixture(t, { cluster, client, node: node.name }, { ...options, decide })
  const { kubelet } = training
  const serving = servingFixture(t, { cluster, client, node: node.name }, { ...options, kubelet })
  return { training, serving }
}

async function textOf({ client }: TestCluster, ns: string): Promise<string> {
  const texts: string[] = []
  const write = async (text: string): Promise<void> => void texts.push(text)
  await saveAll(client, [ns], { write, say: () => undefined })
  return texts.join('')
}

describe('a backup', () => {
  test('continues in another cluster where it was', async (t) => {
    const ns = await namespace(t)
    const before = operate(t, old, ns, decideFor(false))
    await before.training.create()
    await old.client.create(trainingJobs, trainingJob(ns, RUNNING))
    await before.serving.create()
    await before.training.reaches('Completed')
    const isRunning = async () => (await old.client.get(trainingJobs, { namespace: ns, name: RUNNING })).status
    await until('the second job to run', async () => (await isRunning())?.state === 'Running')
    const model = await before.serving.reaches('Running')
    const text = await textOf(old, ns)

    await createNamespace(fresh.client, ns)
    const after = operate(t, fresh, ns, decideFor(true))
    const orphan = await orphanOf(model, ns)
    assert.deepEqual(await restoreAll(fresh.client, objectsIn(text), () => undefined), {
      created: 3,
      kept: 0,
      failed: 0,
    })
    const resumed = await until('the second job to complete', async () => {
      const job = await fresh.client.get(trainingJobs, { namespace: ns, name: RUNNING })
      return job.status?.state === 'Completed' ? job : undefined
    })
    assert.equal(resumed.status?.attempts, 2, 'it resumes, because its attempt is part of the backup')
    assert.equal(resumed.status?.failures ?? 0, 0)
    const { uid } = (await after.serving.model()).metadata
    const isReplaced = async (): Promise<boolean> => {
      const deployment = await fresh.client.get(Deployment, { namespace: ns, name: orphan })
      return controllerOf(deployment)?.uid === uid && deployment.status?.availableReplicas !== undefined
    }
    await until('a Deployment of the restored model in place of the orphan', isReplaced, COLLECTED_MS)
    await after.serving.reaches('Running')
    const { status, metadata } = await after.training.job()
    assert.equal(status?.state, 'Completed')
    assert.equal(metadata.annotations?.[PAUSED_ANNOTATION], undefined)
    const pods = (await fresh.client.list(Pod, { namespace: ns })).items
    assert.deepEqual(
      pods.filter((pod) => isWorkerOf(pod, NAME)),
      [],
      'a finished job stays finished',
    )
  })

  test('restored twice, changes nothing', async (t) => {
    const ns = await namespace(t)
    await old.client.create(trainingSchedules, trainingSchedule(ns, 'nightly'))
    const objects = objectsIn(await textOf(old, ns))
    await createNamespace(fresh.client, ns)
    const restored = () => restoreAll(fresh.client, objects, () => undefined)
    assert.deepEqual(await restored(), { created: 1, kept: 0, failed: 0 })
    assert.deepEqual(await restored(), { created: 0, kept: 1, failed: 0 })
  })
})

/** A Deployment that another tool has restored: its owner has a uid that does not exist here. */
async function orphanOf(model: KubeObject, ns: string): Promise<string> {
  const [child] = (await old.client.list(Deployment, { namespace: ns })).items.filter(
    (one) => controllerOf(one)?.uid === model.metadata.uid,
  )
  assert.ok(child?.spec)
  const { name, labels, ownerReferences } = child.metadata
  const metadata = { name, namespace: ns, labels: labels ?? {}, ownerReferences: ownerReferences ?? [] }
  await fresh.client.create(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: child.spec,
  })
  return name
}

test('a paused object is left alone, and deleted all the same', async (t) => {
  const ns = await namespace(t)
  const { serving, training } = operate(t, old, ns, decideFor(true))
  const paused = trainingJob(ns, NAME)
  const annotations = { [PAUSED_ANNOTATION]: 'true' }
  await old.client.create(trainingJobs, { ...paused, metadata: { ...paused.metadata, annotations } })
  await serving.create()
  await serving.reaches('Running')
  await training.passesThrice()
  const { status, metadata } = await training.job()
  assert.deepEqual([status, metadata.finalizers], [undefined, undefined])
  await old.client.patch(trainingJobs, training.key, { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } })
  await training.reaches('Completed')
  await old.client.patch(modelDeployments, serving.key, { metadata: { annotations } })
  await old.client.delete(modelDeployments, serving.key)
  await serving.disappears(modelDeployments, serving.key.name)
})
