/** `output.deploy` on a real API server: the model of a completed job becomes a version of a ModelDeployment. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelDeployments } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { succeedTogether } from '../builders/training-job.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

const MODEL = 'sentiment'
const PATH = `pvc://${NAME}-checkpoints/model/model.pt`
const deploy = { name: MODEL, version: 'v2', runtime: 'triton' }
const spec = { numWorkers: 1, output: { path: 'model/model.pt', deploy } }

async function setUp(t: TestContext) {
  const ns = await namespace(t)
  const fixture = trainingFixture(
    t,
    { cluster, client, node: node.name },
    { namespace: ns, decide: succeedTogether(1), resyncMs: 200 },
  )
  const model = () => client.get(modelDeployments, { namespace: ns, name: MODEL })
  const verdict = (status: string) =>
    until(`ModelDeployed to be ${status}`, async () => {
      const found = await fixture.condition('ModelDeployed')
      return found?.status === status ? found : undefined
    })
  const apply = (versions: readonly object[], fieldManager = 'kubectl') =>
    client.apply(modelDeployments, modelWith(ns, versions), { fieldManager, force: true })
  return { ...fixture, model, verdict, apply }
}

function modelWith(ns: string, versions: readonly object[]): ModelDeployment {
  const metadata = { namespace: ns, name: MODEL }
  const whole = { modelName: 'mine', framework: 'pytorch', runtime: 'torchserve', versions }
  return {
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelDeployment',
    metadata,
    spec: whole,
  } as unknown as ModelDeployment
}

const weights = ({ spec: { versions } }: ModelDeployment) =>
  versions.map(({ name, weight, modelPath }) => [name, weight, modelPath])

describe('output.deploy', () => {
  test('creates a model that does not exist, and nothing more', async (t) => {
    const { create, verdict, job, model, emits, audit, passesThrice } = await setUp(t)
    await create(spec)
    await verdict('True')
    const { output } = (await job()).status ?? {}
    assert.deepEqual(output, { modelPath: PATH, deployed: { name: MODEL, version: 'v2', weight: 100 } })
    const created = await model()
    assert.deepEqual(weights(created), [['v2', 100, PATH]])
    assert.equal(created.metadata.ownerReferences, undefined)
    await emits('ModelDeployed')
    const writes = audit.writes.length
    await passesThrice()
    assert.equal(audit.writes.length, writes, 'at rest')
  })

  test('adds a version without traffic, and keeps all fields of others', async (t) => {
    const { create, verdict, model, apply } = await setUp(t)
    await apply([{ name: 'v1', weight: 100, modelPath: '/m' }])
    await create(spec)
    await verdict('True')
    const changed = await model()
    assert.deepEqual(weights(changed), [
      ['v1', 100, '/m'],
      ['v2', 0, PATH],
    ])
    assert.equal(changed.spec.runtime, 'torchserve')
    assert.equal(changed.spec.modelName, 'mine')
    await apply([{ name: 'v1', weight: 100, modelPath: '/other' }])
    assert.deepEqual(weights(await model()), [
      ['v1', 100, '/other'],
      ['v2', 0, PATH],
    ])
  })

  test('does not take a field from its owner, and continues when it is given up', async (t) => {
    const { create, verdict, model, apply, emits } = await setUp(t)
    const v1 = { name: 'v1', weight: 100, modelPath: '/m' }
    await apply([v1, { name: 'v2', weight: 0, modelPath: '/n' }])
    await create(spec)
    const { reason, message } = await verdict('False')
    assert.equal(reason, 'Conflict')
    assert.match(message, /conflict with "kubectl".*\.spec\.versions\[name="v2"\]\.modelPath/s)
    await emits('ModelNotDeployed')
    assert.deepEqual(weights(await model()), [
      ['v1', 100, '/m'],
      ['v2', 0, '/n'],
    ])
    await apply([v1])
    await verdict('True')
    assert.deepEqual(weights(await model()), [
      ['v1', 100, '/m'],
      ['v2', 0, PATH],
    ])
  })

  test('never changes a version that gets traffic', async (t) => {
    const { create, verdict, model, apply } = await setUp(t)
    await apply([{ name: 'v2', weight: 100, modelPath: '/m' }])
    await create(spec)
    assert.equal((await verdict('False')).reason, 'VersionInUse')
    assert.deepEqual(weights(await model()), [['v2', 100, '/m']])
  })
})

describe('admission of output', () => {
  const rejected = [
    { title: 'an absolute path', output: { path: '/model' }, message: /output\.path must be a relative path/ },
    { title: 'a path that leaves the volume', output: { path: 'a/../../b' }, message: /".." segment/ },
    { title: 'credentials', output: { path: 's3://user:secret@bucket/m' }, message: /without credentials/ },
    { title: 'an unknown scheme', output: { path: 'file:///etc' }, message: /output\.path must be a relative path/ },
    {
      title: 'a relative path without checkpoints',
      output: { path: 'model' },
      checkpoint: { enabled: false },
      message: /must be a URI when checkpoint\.enabled is false/,
    },
    {
      title: 'a model whose files are deleted with the job',
      output: { path: 'model', deploy },
      checkpoint: { deleteOnCompletion: true },
      message: /deleteOnCompletion must be false/,
    },
    {
      title: 'names that are too long together',
      output: { path: 'model', deploy: { name: 'a'.repeat(40), version: 'b'.repeat(30) } },
      message: /together must be shorter than 63/,
    },
    {
      title: 'a reserved version',
      output: { path: 'model', deploy: { name: 'a', version: 'router' } },
      message: /output\.deploy\.version must not be one of/,
    },
  ]
  for (const { title, message, ...rest } of rejected) {
    test(`rejects ${title}`, async (t) => {
      const { create } = await setUp(t)
      await assert.rejects(create(rest), message)
    })
  }
})
