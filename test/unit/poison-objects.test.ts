/** Generated objects at the limits of our schemas, for conversion and planners. With an API server: see scripts/objects.ts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toV1 } from '../../src/api/conversion.ts'
import { withDefaults } from '../../src/api/defaults.ts'
import { mlopsModelDeploymentV1 } from '../../src/api/mlops-modeldeployment.v1.ts'
import { type ModelDeployment, modelDeploymentV1 } from '../../src/api/modeldeployment.v1.ts'
import { type ModelServer, modelServerV1 } from '../../src/api/modelserver.v1.ts'
import { type TrainingJob, trainingJobV1 } from '../../src/api/trainingjob.v1.ts'
import { type AlphaTrainingJob, trainingJobV1alpha1 } from '../../src/api/trainingjob.v1alpha1.ts'
import { type TrainingSchedule, trainingScheduleV1 } from '../../src/api/trainingschedule.v1.ts'
import { fits } from '../../src/api/validity.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { planServing } from '../../src/plan/serving/index.ts'
import { planSchedule } from '../../src/plan/schedule/index.ts'
import { planTraining } from '../../src/plan/training/index.ts'
import { crdSchemas, nameOfKind } from '../objects/crd-schemas.ts'
import { fitsText, longest } from '../objects/edge-text.ts'
import { poisonObject } from '../objects/poison.ts'
import { ScheduleCluster } from '../sim/schedule-cluster.ts'
import { MODEL_UID, modelDeployment, ServingCluster } from '../sim/serving-cluster.ts'
import { JOB_UID, TrainingCluster } from '../sim/training-cluster.ts'

const SEED = 20_261_116
const OBJECTS = 500
const schemas = await crdSchemas()

interface Stored extends KubeObject {
  readonly spec: object
}

/** As the server returns it: through JSON, with defaults. */
function stored(index: number, uid: string): Stored {
  const { resource, object } = poisonObject(schemas, SEED, index, 'team-a')
  const plain = JSON.parse(JSON.stringify(object)) as Stored
  const spec = withDefaults(declarations[nameOfKind(resource)] ?? trainingJobV1.spec, plain.spec)
  return { ...plain, metadata: { ...plain.metadata, uid, generation: 1, resourceVersion: '1' }, spec }
}

const declarations: Readonly<Record<string, Parameters<typeof withDefaults>[0]>> = {
  'ml.example.com/v1 TrainingJob': trainingJobV1.spec,
  'ml.example.com/v1 TrainingSchedule': trainingScheduleV1.spec,
  'ml.example.com/v1alpha1 TrainingJob': trainingJobV1alpha1.spec,
  'ml.example.com/v1 ModelDeployment': modelDeploymentV1.spec,
  'mlops.sathvik.dev/v1 ModelDeployment': mlopsModelDeploymentV1.spec,
  'ml.example.com/v1 ModelServer': modelServerV1.spec,
}

const indexesOf = (kind: string): number[] =>
  Array.from({ length: OBJECTS }, (_, index) => index).filter(
    (index) => nameOfKind(schemas[index % schemas.length]?.resource as never) === kind,
  )

/** CPU time in milliseconds. */
function timeOf(act: () => void): number {
  const before = process.threadCpuUsage()
  act()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** The slowest of an object's first four plans. */
function slowestPlan(plan: () => unknown, pass: () => unknown): number {
  const times = Array.from({ length: 4 }, () => {
    const time = timeOf(() => void plan())
    pass()
    return time
  })
  return Math.max(...times)
}

/** Planners run in the event loop, which one object must not block. */
const BOUND_MS = 100

describe('generated objects', () => {
  test('are valid by their schemas', () => {
    for (const [kind, declaration] of Object.entries(declarations))
      for (const index of indexesOf(kind)) {
        const { spec } = stored(index, 'u')
        assert.ok(fits(declaration, spec), `${kind} ${index}`)
      }
  })

  test('are the same for the same seed', () => {
    const texts = [1, 1].map(() => JSON.stringify(poisonObject(schemas, 7, 123, 'n').object))
    assert.equal(texts[0], texts[1])
    assert.notEqual(texts[0], JSON.stringify(poisonObject(schemas, 8, 123, 'n').object))
  })

  test('reach the longest text that a pattern allows', () => {
    const schema = { type: 'string', pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 }
    assert.equal(longest(schema, 'ab').length, 63)
    assert.ok(fitsText(schema, longest(schema, 'a-b')))
  })
})

describe('planners handle every generated object of', () => {
  for (const kind of ['ml.example.com/v1 TrainingJob', 'ml.example.com/v1alpha1 TrainingJob'])
    test(kind, (t) => {
      const times = indexesOf(kind).map((index) => {
        const given = stored(index, JOB_UID)
        const cluster = new TrainingCluster()
        const conversion = timeOf(() => {
          const job = given.apiVersion.endsWith('v1alpha1') ? toV1(given as AlphaTrainingJob) : (given as TrainingJob)
          cluster.job = { ...job, spec: withDefaults(trainingJobV1.spec, job.spec) }
        })
        const planned = slowestPlan(
          () => planTraining(cluster.observed),
          () => cluster.pass(),
        )
        return Math.max(conversion, planned)
      })
      report(t, times)
    })

  test('ml.example.com/v1 TrainingSchedule', (t) => {
    const times = indexesOf('ml.example.com/v1 TrainingSchedule').map((index) => {
      const cluster = new ScheduleCluster()
      cluster.schedule = stored(index, cluster.schedule.metadata.uid ?? '') as TrainingSchedule
      return slowestPlan(
        () => planSchedule(cluster.observed),
        () => cluster.pass(),
      )
    })
    report(t, times)
  })

  for (const kind of ['ml.example.com/v1 ModelDeployment', 'mlops.sathvik.dev/v1 ModelDeployment'])
    test(kind, (t) => {
      const times = indexesOf(kind).map((index) => {
        const cluster = new ServingCluster(planServing, () => undefined)
        cluster.model = stored(index, MODEL_UID) as ModelDeployment
        return servingTime(cluster)
      })
      report(t, times)
    })

  test('ml.example.com/v1 ModelServer', (t) => {
    const model = modelDeployment({ runtime: 'own', image: undefined })
    const times = indexesOf('ml.example.com/v1 ModelServer').map((index) => {
      const server = stored(index, 'uid-of-server') as ModelServer
      const cluster = new ServingCluster(
        (observed) => planServing({ ...observed, server }),
        () => undefined,
      )
      cluster.model = model
      return servingTime(cluster, server)
    })
    report(t, times)
  })
})

const servingTime = (cluster: ServingCluster, server?: ModelServer): number =>
  slowestPlan(
    () => planServing({ ...cluster.observed, ...(server && { server }) }),
    () => cluster.pass(),
  )

function report(t: { diagnostic(text: string): void }, times: readonly number[]): void {
  const most = Math.max(...times)
  t.diagnostic(`${times.length} objects, the slowest pass took ${most.toFixed(1)} ms of CPU time`)
  assert.ok(most < BOUND_MS, `${most} ms`)
}
