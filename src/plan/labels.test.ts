/** The recommended labels are on every child and in no selector. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToWrite } from '../../test/builders/plans.ts'
import { ServingCluster, version } from '../../test/sim/serving-cluster.ts'
import { calm } from '../../test/sim/serving-history.ts'
import { TrainingCluster } from '../../test/sim/training-cluster.ts'
import { type KubeObject, nameWithKind } from '../kube/object.ts'
import { labelValue, recommendedLabels } from './labels.ts'
import { planServing } from './serving/index.ts'
import { planTraining } from './training/index.ts'

const PREFIX = 'app.kubernetes.io/'
const VALID = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/

/** All values at a key, wherever it is in the object. */
function valuesAt(value: unknown, key: string): object[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, below]: [string, unknown]) => [
    ...(name === key && typeof below === 'object' && below !== null ? [below] : []),
    ...valuesAt(below, key),
  ])
}

/** Labels of the object, and of the pods of its template. */
const labelsIn = (object: KubeObject): Record<string, string>[] =>
  valuesAt(object, 'metadata').flatMap((metadata) => ('labels' in metadata ? [metadata.labels as never] : []))

function assertLabelled(object: KubeObject, app: string, instance: string): void {
  for (const labels of labelsIn(object)) {
    assert.equal(labels['app'], app)
    assert.equal(labels[`${PREFIX}name`], app)
    assert.equal(labels[`${PREFIX}instance`], instance)
    assert.equal(labels[`${PREFIX}part-of`], 'ml-operator')
    assert.equal(labels[`${PREFIX}managed-by`], 'ml-operator')
    assert.match(labels[`${PREFIX}component`] ?? '', VALID)
    assert.equal(labels[`${PREFIX}version`], labels['modeldeployment.ml.example.com/version'])
  }
  for (const selector of ['selector', 'matchLabels', 'subsets'].flatMap((key) => valuesAt(object, key)))
    assert.ok(!JSON.stringify(selector).includes(PREFIX), `selector of ${nameWithKind(object)}`)
}

for (const spec of [{ hyperparameters: { epochs: 1 } }, { framework: 'mpi', numWorkers: 2 }, { engine: 'job' }])
  test(`every object of a job: ${JSON.stringify(spec)}`, () => {
    const cluster = new TrainingCluster(spec)
    cluster.job = { ...cluster.job, status: { attempts: 1, worldSize: cluster.job.spec.numWorkers } }
    const objects = objectsToWrite(planTraining(cluster.observed))
    assert.ok(objects.length >= 2)
    for (const object of objects) assertLabelled(object, 'trainingjob', 'bert')
  })

for (const [name, spec, offers] of [
  ['one version', { scaling: { minReplicas: 2, maxReplicas: 4 }, storage: { size: '1Gi' } }, []],
  ['files', { runtime: 'torchserve', image: undefined }, []],
  ['router', { versions: [version('v1', 90), version('v2', 10)] }, []],
  ['istio', { versions: [version('v1', 90), version('v2', 10)] }, ['istio']],
  ['gateway', { traffic: { gateways: ['public'] } }, ['gateway']],
  ['validation', { validation: { script: 'validate.py', timeoutSeconds: 60 } }, []],
] as const)
  test(`every object of a model: ${name}`, () => {
    const cluster = new ServingCluster(planServing, () => undefined, { spec, offers })
    cluster.pass()
    const validations = cluster.of('Job')
    assert.ok(calm(cluster, 40))
    for (const object of [...validations, ...cluster.objects.values()]) {
      assertLabelled(object, 'iris', 'iris')
      assert.equal(object.metadata.labels?.['managed-by'], 'model-operator')
    }
  })

const long = (length: number, last = 'a'): string => `${'a'.repeat(length - 1)}${last}`

test('a name that is too long for a label is cut, stays valid and stays distinct', () => {
  assert.equal(labelValue(long(63)), long(63))
  const values = [long(64), long(64, 'b'), `${long(54, '.')}.${long(200)}`, `${long(52)}...${long(100)}`].map(
    labelValue,
  )
  for (const value of values) assert.match(value, VALID)
  assert.equal(new Set(values).size, values.length)
  const labels = recommendedLabels({ name: long(253), instance: long(253), component: 'server', version: long(253) })
  for (const value of Object.values(labels)) assert.match(value, VALID)
})
