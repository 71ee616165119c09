/** What becomes of the model of a completed job. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import { planRejection } from '../lifecycle.ts'

const SPEC = { image: 'i', command: ['train'], numWorkers: 1, gpusPerWorker: 0 }
const DEPLOY = { name: 'sentiment', runtime: 'triton' }
const PATH = 'pvc://bert-checkpoints/model.pt'

function trained(deploy: object | undefined, more: object = {}): TrainingCluster {
  const output = { path: 'model.pt', ...(deploy && { deploy }) }
  const cluster = new TrainingCluster({ ...SPEC, output, ...more })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function completed(cluster: TrainingCluster): TrainingCluster {
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  return cluster
}

function model(...versions: readonly (readonly [name: string, weight: number, modelPath: string])[]): ModelDeployment {
  const entries = versions.map(([name, weight, modelPath]) => ({ name, weight, modelPath }))
  const metadata = { name: 'sentiment', namespace: 'team-a', uid: 'uid-of-model' }
  const spec = { modelName: 'm', framework: 'pytorch', versions: entries }
  return { apiVersion: 'ml.example.com/v1', kind: 'ModelDeployment', metadata, spec } as unknown as ModelDeployment
}

const versionsOf = ({ model: found }: TrainingCluster) =>
  found?.spec.versions.map(({ name, weight, modelPath }) => [name, weight, modelPath])
const verdictOf = ({ job }: TrainingCluster) =>
  job.status?.conditions?.find(({ type }) => type === 'ModelDeployed') ?? { status: 'absent', reason: '', message: '' }

describe('location of the model', () => {
  const cases = [
    { title: 'a path on the volume of the checkpoints', path: 'a/b.pt', want: 'pvc://bert-checkpoints/a/b.pt' },
    { title: 'a URI, as it is', path: 's3://bucket/m', want: 's3://bucket/m' },
    {
      title: 'a path below the prefix of the checkpoints',
      path: 'm',
      checkpoint: { storage: { type: 'gcs', path: 'gs://bucket/bert/' } },
      want: 'gs://bucket/bert/m',
    },
  ]
  for (const { title, path, want, ...more } of cases) {
    test(title, () => {
      const cluster = completed(trained(undefined, { ...more, output: { path } }))
      assert.deepEqual(cluster.job.status?.output, { modelPath: want })
      assert.equal(verdictOf(cluster).status, 'absent')
    })
  }

  test('is recorded only when the job has completed', () => {
    const cluster = trained(DEPLOY, { backoffLimit: 0 })
    assert.equal(cluster.job.status?.output, undefined)
    cluster.exitAll({ exitCode: 1 })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Failed')
    assert.equal(cluster.job.status.output, undefined)
    assert.equal(cluster.model, undefined)
  })
})

describe('a model that does not exist', () => {
  test('is created without an owner, with all traffic for the version', () => {
    const cluster = completed(trained({ ...DEPLOY, resources: { limits: { cpu: '1' } } }))
    assert.deepEqual(cluster.model?.metadata.ownerReferences, undefined)
    assert.deepEqual(cluster.model?.spec, {
      modelName: 'sentiment',
      framework: 'pytorch',
      runtime: 'triton',
      versions: [{ name: 'bert', weight: 100, modelPath: PATH }],
      resources: { limits: { cpu: '1' } },
    })
    const deployed = { name: 'sentiment', version: 'bert', weight: 100 }
    assert.deepEqual(cluster.job.status?.output, { modelPath: PATH, deployed })
    assert.equal(verdictOf(cluster).status, 'True')
    assert.equal(cluster.events.filter((reason) => reason === 'ModelDeployed').length, 1)
  })

  test('the weight is recorded before the model is created', () => {
    const cluster = trained(DEPLOY)
    cluster.exitAll({ exitCode: 0 })
    cluster.pass()
    cluster.pass()
    assert.deepEqual(cluster.job.status?.output?.deploying, { name: 'sentiment', version: 'bert', weight: 100 })
    assert.equal(cluster.model, undefined)
  })

  test('is not created again when it is deleted later', () => {
    const cluster = completed(trained(DEPLOY))
    cluster.model = undefined
    assert.equal(cluster.settle(), 1)
    assert.equal(cluster.model, undefined)
  })

  test('needs a runtime or an image, unless the framework has a runtime', () => {
    const without = completed(trained({ name: 'sentiment' }))
    assert.equal(verdictOf(without).reason, 'RuntimeNeeded')
    assert.match(verdictOf(without).message, /set spec\.output\.deploy\.runtime or spec\.output\.deploy\.image/)
    assert.equal(without.model, undefined)
    assert.ok(completed(trained({ name: 'sentiment', framework: 'onnx' })).model)
    assert.ok(completed(trained({ name: 'sentiment', image: 'i' })).model)
  })
})

describe('a model that exists', () => {
  const cases = [
    {
      title: 'gets a version without traffic',
      before: model(['v1', 100, '/m']),
      after: [
        ['v1', 100, '/m'],
        ['v2', 0, PATH],
      ],
      verdict: 'ModelDeployed',
    },
    {
      title: 'keeps a version that gets traffic',
      before: model(['v1', 90, '/m'], ['v2', 10, '/n']),
      after: [
        ['v1', 90, '/m'],
        ['v2', 10, '/n'],
      ],
      verdict: 'VersionInUse',
    },
    {
      title: 'has a version without traffic changed',
      before: model(['v1', 100, '/m'], ['v2', 0, '/n']),
      after: [
        ['v1', 100, '/m'],
        ['v2', 0, PATH],
      ],
      verdict: 'ModelDeployed',
    },
    {
      title: 'is not changed if it has the version',
      before: model(['v1', 90, '/m'], ['v2', 10, PATH]),
      after: [
        ['v1', 90, '/m'],
        ['v2', 10, PATH],
      ],
      verdict: 'ModelDeployed',
    },
  ]
  for (const { title, before, after, verdict } of cases) {
    test(title, () => {
      const cluster = trained({ ...DEPLOY, version: 'v2' })
      cluster.model = before
      completed(cluster)
      assert.deepEqual(versionsOf(cluster), after)
      assert.equal(verdictOf(cluster).reason, verdict)
      assert.equal(cluster.settle(), 1, 'at rest')
    })
  }

  test('with too many versions gets none', () => {
    const cluster = trained(DEPLOY)
    const others = Array.from({ length: 15 }, (_, index) => [`o${index}`, 0, '/m'] as const)
    cluster.model = model(['v1', 100, '/m'], ...others)
    completed(cluster)
    assert.equal(verdictOf(cluster).reason, 'TooManyVersions')
    cluster.model = model(['v1', 100, '/m'])
    cluster.settle()
    assert.equal(verdictOf(cluster).status, 'True')
  })

  test('that appears or disappears after the decision changes the decision', () => {
    const cluster = trained(DEPLOY)
    cluster.exitAll({ exitCode: 0 })
    cluster.pass()
    cluster.pass()
    assert.equal(cluster.job.status?.output?.deploying?.weight, 100)
    cluster.model = model(['v1', 100, '/m'])
    cluster.pass()
    assert.equal(cluster.job.status.output.deploying.weight, 0)
    cluster.model = undefined
    cluster.settle()
    assert.deepEqual(versionsOf(cluster), [['bert', 100, PATH]])
  })

  test('that is being deleted is not changed, and is created when it is gone', () => {
    const cluster = trained(DEPLOY)
    const { metadata, ...rest } = model(['v1', 100, '/m'])
    cluster.model = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    completed(cluster)
    assert.equal(verdictOf(cluster).reason, 'ModelTerminating')
    cluster.model = undefined
    cluster.settle()
    assert.deepEqual(versionsOf(cluster), [['bert', 100, PATH]])
  })
})

test('another version in the spec is deployed too', () => {
  const cluster = completed(trained({ ...DEPLOY, version: 'v1' }))
  cluster.edit({ output: { path: 'model.pt', deploy: { ...DEPLOY, version: 'v2' } } })
  cluster.settle()
  assert.deepEqual(versionsOf(cluster), [
    ['v1', 100, PATH],
    ['v2', 0, PATH],
  ])
})

test('a rejected write is recorded once, as a condition and an event', () => {
  const cluster = trained(DEPLOY)
  cluster.exitAll({ exitCode: 0 })
  cluster.pass()
  cluster.pass()
  const trouble = { reason: 'Conflict', message: 'conflict with "kubectl": .spec.versions[name="v2"].modelPath' }
  cluster.commit(planRejection(cluster.observed, trouble))
  const { status, reason, message } = verdictOf(cluster)
  assert.deepEqual({ status, reason, message }, { status: 'False', ...trouble })
  assert.deepEqual(planRejection(cluster.observed, trouble).events, [])
  assert.equal(cluster.events.filter((event) => event === 'ModelNotDeployed').length, 1)
  cluster.settle()
  assert.equal(verdictOf(cluster).status, 'True')
})

describe('the deletion after ttlSecondsAfterFinished', () => {
  test('waits for the deployment', () => {
    const cluster = trained(DEPLOY, { ttlSecondsAfterFinished: 0 })
    cluster.exitAll({ exitCode: 0 })
    while (!cluster.expired) cluster.pass()
    assert.deepEqual(versionsOf(cluster), [['bert', 100, PATH]])
    assert.ok(cluster.events.includes('ModelDeployed'))
  })

  test('does not wait for a person', () => {
    const cluster = trained({ name: 'sentiment' }, { ttlSecondsAfterFinished: 0 })
    cluster.exitAll({ exitCode: 0 })
    while (!cluster.expired) cluster.pass()
    assert.ok(cluster.events.includes('ModelNotDeployed'))
  })
})

test('after a crash at any write, the model is deployed once', () => {
  const whole = completed(trained(DEPLOY))
  const before = trained(DEPLOY).writes.length
  for (let survives = 0; survives <= whole.writes.length - before; survives += 1) {
    const cluster = trained(DEPLOY)
    cluster.exitAll({ exitCode: 0 })
    for (let left = survives; left > 0;) {
      const known = cluster.writes.length
      cluster.pass(left)
      left -= Math.max(1, cluster.writes.length - known)
    }
    cluster.settle()
    assert.deepEqual(cluster.writes, whole.writes)
    assert.deepEqual(versionsOf(cluster), versionsOf(whole))
    assert.equal(cluster.events.filter((reason) => reason === 'ModelDeployed').length, 1)
  }
})
