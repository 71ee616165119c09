/** Checkpoints that pods report: in the status, throttled, and missed when they stop coming. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { MINUTE, podOf, started } from '../../../../test/sim/training-moves.ts'
import { getCondition } from '../../../api/conditions.ts'
import { planTraining } from '../index.ts'
import { CHECKPOINT_HEALTHY } from './checkpoint.ts'

function report(cluster: TrainingCluster, path: string, step?: number, rank = 0): void {
  const podUid = cluster.pods[rank]?.metadata.uid ?? ''
  const checkpoint = { path, ...(step !== undefined && { step }) }
  const others = cluster.reports.filter((one) => one.podUid !== podUid)
  cluster.reports = [...others, { podUid, source: 'Report', receivedAt: cluster.now, report: { checkpoint } }]
}

function save(cluster: TrainingCluster, minutes: number, step: number): void {
  cluster.now += minutes * MINUTE
  report(cluster, `/checkpoints/step-${step}`, step)
  cluster.settle()
}

const latest = ({ job }: TrainingCluster): string | undefined => job.status?.checkpoint?.latest
const healthy = ({ job }: TrainingCluster) => getCondition(job.status?.conditions, CHECKPOINT_HEALTHY)
const S3 = { storage: { type: 's3', path: 's3://b/p' } }

const cases: readonly [string, object, string, boolean][] = [
  ['a directory on the claim', {}, '/checkpoints/step-5', true],
  ['another directory', {}, '/tmp/step-5', false],
  ['a path that leaves the directory', {}, '/checkpoints/../step-5', false],
  ['the bucket', S3, 's3://b/p/step-5', true],
  ['a local directory beside a bucket, which is not uploaded yet', S3, '/checkpoints/step-5', false],
  ['another bucket', S3, 's3://b/pp/step-5', false],
  ['checkpoints that are disabled', { enabled: false }, '/checkpoints/step-5', false],
]

for (const [name, checkpoint, path, isRecorded] of cases)
  test(`a reported checkpoint in ${name} is ${isRecorded ? 'recorded' : 'ignored'}`, () => {
    const cluster = started({ numWorkers: 2, checkpoint })
    report(cluster, path, 5)
    cluster.settle()
    assert.equal(latest(cluster), isRecorded ? path : undefined)
  })

test('the newest counts, whoever reports it, and an older one changes nothing', () => {
  const cluster = started({ numWorkers: 2 })
  report(cluster, '/checkpoints/step-5', 5, 1)
  report(cluster, '/checkpoints/step-4', 4, 0)
  cluster.settle()
  assert.deepEqual([latest(cluster), cluster.job.status?.checkpoint?.step], ['/checkpoints/step-5', 5])
  const { length } = cluster.writes
  save(cluster, 1, 3)
  cluster.reports = []
  cluster.settle()
  assert.equal(cluster.writes.length, length)
  assert.equal(latest(cluster), '/checkpoints/step-5', 'a restarted operator has no reports and forgets nothing')
})

test('is written at most every 10 seconds', () => {
  const cluster = started({ numWorkers: 1 })
  save(cluster, 1, 1)
  const { length } = cluster.writes
  cluster.now += 2_000
  report(cluster, '/checkpoints/step-2', 2)
  assert.equal(planTraining(cluster.observed).requeueAfterMs, 8_000)
  cluster.settle()
  assert.equal(cluster.writes.length, length)
  cluster.now += 8_000
  cluster.settle()
  assert.equal(latest(cluster), '/checkpoints/step-2')
})

test('a checkpoint that does not come is missed after three intervals, with one write', () => {
  const cluster = started({ numWorkers: 1 })
  for (const step of [1, 2, 3]) save(cluster, 10, step)
  assert.equal(cluster.job.status?.checkpoint?.intervalSeconds, 600)
  assert.equal(healthy(cluster)?.status, 'True')
  assert.equal(planTraining(cluster.observed).requeueAfterMs, 30 * MINUTE)
  const { length } = cluster.writes
  cluster.now += 29 * MINUTE
  cluster.settle()
  assert.equal(cluster.writes.length, length, 'nothing is written while it is in time')
  cluster.now += 2 * MINUTE
  cluster.settle()
  const { status, reason } = healthy(cluster) ?? {}
  assert.deepEqual([status, reason], ['False', 'CheckpointOverdue'])
  assert.equal(cluster.events.filter((one) => one === 'CheckpointOverdue').length, 1)
  cluster.now += 600 * MINUTE
  cluster.settle()
  assert.equal(cluster.writes.length, length + 1)
  save(cluster, 1, 4)
  assert.equal(healthy(cluster)?.status, 'True')
})

test('a job that does not run misses no checkpoint, and a restart starts the clock again', () => {
  const cluster = started({ numWorkers: 1 })
  for (const step of [1, 2]) save(cluster, 10, step)
  cluster.exit(podOf(cluster, 'bert-workers-0'), { exitCode: 1 })
  cluster.checkpoints = [1, 2]
  cluster.settle()
  cluster.letGo()
  cluster.now += 300 * MINUTE
  cluster.settle()
  assert.equal(healthy(cluster), undefined)
  cluster.runAll()
  cluster.settle()
  assert.equal(healthy(cluster)?.status, 'True')
  assert.equal(latest(cluster), '/checkpoints/step-2')
  cluster.exitAll({ exitCode: 0 })
  cluster.settle()
  assert.equal(healthy(cluster), undefined)
})

test('workers of an elastic gang take the newest checkpoint at each start of their processes, without a listing', () => {
  const elastic = { minWorkers: 1, maxWorkers: 4 }
  const cluster = started({ numWorkers: 3, elastic, image: 'i', command: ['torchrun', 'train.py'] })
  save(cluster, 1, 7)
  assert.equal(getCondition(cluster.job.status?.conditions, 'ChangePending'), undefined)
  cluster.exit(podOf(cluster, 'bert-workers-2'), { exitCode: 1 })
  cluster.settle()
  cluster.letGo()
  cluster.now += 10 * MINUTE
  cluster.settle()
  const env = podOf(cluster, 'bert-workers-2').spec?.containers[0]?.env
  assert.equal(env?.find(({ name }) => name === 'RESUME_FROM_CHECKPOINT')?.value, '/checkpoints')
  assert.ok(!cluster.writes.includes('create Pod/bert-checkpoints'))
})
