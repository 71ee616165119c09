/** What MLflow should have of a job, and what the status says about it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { trackedRun } from '../objects/tracked-run.ts'

const SPEC = {
  image: 'registry.example.com/trainer:1',
  command: ['train'],
  numWorkers: 1,
  gpusPerWorker: 0,
  backoffLimit: 0,
  hyperparameters: { epochs: 3, optimizer: 'adam', betas: [0.9, 0.99] },
  tracking: { mlflow: { experiment: 'nlp', tags: { team: 'nlp' } } },
}
const RUN = { runId: 'r1', url: 'https://mlflow.example.com/#/experiments/1/runs/r1', runStatus: 'RUNNING' } as const

function running(more: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, ...more })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

function ended(exitCode: number, more: object = {}): TrainingCluster {
  const cluster = running(more)
  cluster.exitAll({ exitCode })
  cluster.settle()
  return cluster
}

const verdictOf = ({ job }: TrainingCluster, type = 'Tracked') =>
  job.status?.conditions?.find((condition) => condition.type === type)

describe('the run of a job', () => {
  test('has its hyperparameters, and tags that identify it', () => {
    const { job } = running({ env: [{ name: 'GIT_COMMIT', value: 'abc' }] })
    const run = trackedRun(job)
    assert.deepEqual(run?.params, {
      model: 'bert',
      dataset: 'wiki',
      framework: 'pytorch',
      numWorkers: '1',
      epochs: '3',
      optimizer: 'adam',
      betas: '[0.9,0.99]',
    })
    assert.deepEqual(run.tags, {
      team: 'nlp',
      'mlflow.source.git.commit': 'abc',
      'ml-operator.namespace': 'team-a',
      'ml-operator.job': 'bert',
      'ml-operator.uid': 'uid-of-job',
      'ml-operator.attempt': '1',
      'ml-operator.image': 'registry.example.com/trainer:1',
    })
    assert.deepEqual([run.experiment, run.runName, run.status], ['nlp', 'bert', 'RUNNING'])
  })

  test('is absent for a job that is not tracked', () => {
    assert.equal(trackedRun(running({ tracking: undefined }).job), undefined)
  })

  test('ends as the job ends', () => {
    assert.equal(trackedRun(ended(0).job)?.status, 'FINISHED')
    assert.equal(trackedRun(ended(1).job)?.status, 'FAILED')
    const { job } = running()
    const deleted = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    assert.equal(trackedRun(deleted)?.status, 'KILLED')
  })

  test('is settled when MLflow has the end, and the version of the model', () => {
    const { job } = ended(0)
    const closed = { ...job, status: { ...job.status, tracking: { ...RUN, runStatus: 'FINISHED' as const } } }
    assert.equal(trackedRun(closed), undefined)
    const spec = { ...job.spec, output: { path: 'm', registerAs: 'sentiment' } }
    const registering = { ...closed, spec }
    assert.equal(trackedRun(registering)?.register?.source, 'pvc://bert-checkpoints/m')
    const registered = { name: 'team-a.sentiment', version: '1' }
    assert.equal(trackedRun({ ...registering, status: { ...closed.status, output: { registered } } }), undefined)
  })

  test('registers the model with its lineage, only when the job has completed', () => {
    const output = { path: 'm', registerAs: 'sentiment' }
    assert.equal(trackedRun(running({ output, tracking: undefined }).job)?.register, undefined)
    assert.equal(trackedRun(ended(1, { output }).job)?.register, undefined)
    const { job } = ended(0, { output })
    const { register } = trackedRun({ ...job, status: { ...job.status, metrics: { loss: 0.5 } } }) ?? {}
    assert.equal(register?.name, 'sentiment')
    const { 'ml-operator.dataset': dataset, 'ml-operator.attempt': attempt, 'metric.loss': loss } = register.tags
    assert.deepEqual([dataset, attempt, loss], ['wiki', '1', '0.5'])
  })
})

describe('the status', () => {
  test('says that the operator has no server', () => {
    const cluster = running()
    assert.equal(verdictOf(cluster)?.reason, 'NotConfigured')
    assert.match(verdictOf(cluster)?.message ?? '', /set mlflow\.url/)
    assert.equal(cluster.events.filter((reason) => reason === 'NotTracked').length, 1)
  })

  test('has the run, and keeps it when another process knows nothing yet', () => {
    const cluster = running()
    cluster.tracked = RUN
    cluster.settle()
    assert.deepEqual(cluster.job.status?.tracking, RUN)
    assert.equal(verdictOf(cluster)?.status, 'True')
    cluster.tracked = {}
    assert.equal(cluster.settle(), 1)
    assert.deepEqual(cluster.job.status.tracking, RUN)
  })

  test('has one problem at a time: its first message stays, with one event', () => {
    const cluster = running()
    cluster.tracked = RUN
    cluster.settle()
    for (const problem of ['refused', 'timed out']) {
      cluster.tracked = { ...RUN, problem }
      cluster.settle()
    }
    assert.equal(verdictOf(cluster)?.message, 'refused')
    cluster.tracked = RUN
    cluster.settle()
    assert.equal(verdictOf(cluster)?.status, 'True')
    assert.equal(cluster.events.filter((reason) => reason === 'NotTracked').length, 2, 'NotConfigured before')
  })

  test('training and its end do not depend on MLflow', () => {
    const cluster = running()
    cluster.tracked = { problem: 'refused' }
    cluster.exitAll({ exitCode: 0 })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Completed')
  })

  test('has the registered version after the end, with one event', () => {
    const cluster = ended(0, { output: { path: 'm', registerAs: 'sentiment' } })
    cluster.tracked = { ...RUN, runStatus: 'FINISHED', registered: { name: 'team-a.sentiment', version: '3' } }
    cluster.settle()
    const { output, tracking } = cluster.job.status ?? {}
    assert.deepEqual(output?.registered, { name: 'team-a.sentiment', version: '3' })
    assert.equal(tracking?.runStatus, 'FINISHED')
    assert.equal(verdictOf(cluster, 'ModelRegistered')?.status, 'True')
    cluster.tracked = {}
    assert.equal(cluster.settle(), 1, 'at rest')
    assert.equal(cluster.events.filter((reason) => reason === 'ModelRegistered').length, 1)
  })

  test('has the image with its digest', () => {
    const cluster = running()
    const [pod] = cluster.pods
    assert.ok(pod)
    const imageID = 'registry.example.com/trainer@sha256:0123'
    const containerStatuses = [{ name: 'training-worker', imageID, image: '', ready: true, restartCount: 0 }]
    cluster.change({ ...pod, status: { ...pod.status, containerStatuses } })
    cluster.tracked = RUN
    cluster.settle()
    assert.equal(cluster.job.status?.tracking?.image, imageID)
    assert.equal(trackedRun(cluster.job)?.tags['ml-operator.image-digest'], imageID)
  })
})
