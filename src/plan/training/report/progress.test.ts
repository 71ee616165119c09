/** Progress reports in the status: values, estimates, how often they are written, and what ends them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { ProgressReport } from '../../../api/training-report.ts'
import { planTraining } from '../index.ts'

const SECOND = 1_000
const before = new WeakMap<TrainingCluster, number>()

function running(spec: object = { numWorkers: 2 }): TrainingCluster {
  const cluster = new TrainingCluster(spec)
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  before.set(cluster, cluster.writes.length)
  return cluster
}

/** Writes since the job runs. */
const writesOf = (cluster: TrainingCluster): string[] => cluster.writes.slice(before.get(cluster))

/** The pod sends a report. Replaces what it has sent before. */
function send(cluster: TrainingCluster, report: ProgressReport, rank = 0): void {
  const podUid = cluster.pods[rank]?.metadata.uid ?? ''
  const others = cluster.reports.filter((one) => one.podUid !== podUid)
  cluster.reports = [...others, { podUid, source: 'Report', receivedAt: cluster.now, report }]
}

function after(cluster: TrainingCluster, seconds: number, report: ProgressReport, rank?: number): void {
  cluster.now += seconds * SECOND
  send(cluster, report, rank)
  cluster.settle()
}

const remainingSeconds = (cluster: TrainingCluster): number =>
  (Date.parse(cluster.job.status?.estimatedCompletion ?? '') - cluster.now) / SECOND

const recorded: readonly [string, ProgressReport, object][] = [
  ['epochs', { epoch: 3, totalEpochs: 10 }, { progress: '30%', currentEpoch: 3, totalEpochs: 10 }],
  ['steps', { step: 1200, totalSteps: 4000 }, { progress: '30%', step: 1200, totalSteps: 4000 }],
  ['steps before epochs', { epoch: 3, totalEpochs: 10, step: 1, totalSteps: 3 }, { progress: '33%' }],
  ['a percentage', { percent: 99.9 }, { progress: '99%' }],
  ['the end', { step: 9, totalSteps: 9 }, { progress: '100%' }],
  ['more than all', { epoch: 12, totalEpochs: 10 }, { progress: '100%', currentEpoch: 12 }],
  ['no total', { epoch: 3, step: 7 }, { progress: undefined, currentEpoch: 3, step: 7 }],
  ['a total of 0', { epoch: 0, totalEpochs: 0 }, { progress: undefined, currentEpoch: 0 }],
  ['metrics only', { metrics: { loss: 0.5 } }, { progress: undefined, metrics: { loss: 0.5 } }],
]

for (const [name, report, expected] of recorded) {
  test(`a report with ${name}`, () => {
    const cluster = running()
    after(cluster, 1, report)
    const status: Record<string, unknown> = { ...cluster.job.status }
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, status[key]])), expected)
    assert.deepEqual(writesOf(cluster), ['status'])
  })
}

test('the number of epochs is that of the spec, if the report has none', () => {
  for (const epochs of [20, '20']) {
    const cluster = running({ hyperparameters: { epochs } })
    after(cluster, 1, { epoch: 9 })
    const { progress, totalEpochs } = cluster.job.status ?? {}
    assert.deepEqual([progress, totalEpochs], ['45%', 20])
  }
})

describe('several pods', () => {
  test('the one that is furthest has the progress; metrics are merged', () => {
    const cluster = running()
    send(cluster, { epoch: 3, totalEpochs: 10, metrics: { loss: 1 } })
    after(cluster, 1, { epoch: 2, totalEpochs: 10, metrics: { loss: 2, valid: 3 } }, 1)
    assert.deepEqual([cluster.job.status?.progress, cluster.job.status?.metrics], ['30%', { loss: 2, valid: 3 }])
  })

  test('at most 32 metrics', () => {
    const cluster = running()
    const metrics = (prefix: string) => Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`${prefix}${i}`, i]))
    send(cluster, { metrics: metrics('a') })
    after(cluster, 1, { metrics: { ...metrics('b'), a0: 7 } }, 1)
    assert.deepEqual(cluster.job.status?.metrics, { ...metrics('a'), a0: 7 })
  })
})

describe('writes', () => {
  test('20 reports a second cost at most one write in 10 s', () => {
    const cluster = running()
    for (let step = 0; step < 20 * 60; step += 1) after(cluster, 0.05, { step, totalSteps: 10_000, epoch: 1 })
    assert.ok(writesOf(cluster).length <= 7, `${writesOf(cluster).length} writes`)
  })

  test('what was not written is written when it is due', () => {
    const cluster = running()
    after(cluster, 1, { step: 1 })
    after(cluster, 4, { step: 2 })
    assert.equal(cluster.job.status?.step, 1)
    assert.equal(planTraining(cluster.observed).requeueAfterMs, 6 * SECOND)
    cluster.now += 6 * SECOND
    cluster.settle()
    assert.equal(cluster.job.status?.step, 2)
    assert.equal(planTraining(cluster.observed).requeueAfterMs, undefined)
  })

  test('the end of an epoch is written after 2 s', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 1 })
    after(cluster, 1, { epoch: 2 })
    assert.equal(cluster.job.status?.currentEpoch, 1)
    after(cluster, 1, { epoch: 3 })
    assert.equal(cluster.job.status?.currentEpoch, 3)
  })

  test('a repeated report costs nothing', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 1, totalEpochs: 2, metrics: { loss: 1 } })
    for (let round = 0; round < 10; round += 1) after(cluster, 60, { epoch: 1, totalEpochs: 2, metrics: { loss: 1 } })
    assert.deepEqual(writesOf(cluster), ['status'])
  })

  test('the last report of a job is part of its final status', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 9, totalEpochs: 10 })
    cluster.now += SECOND
    send(cluster, { epoch: 10, totalEpochs: 10, metrics: { loss: 0.1 } })
    cluster.exitAll({ exitCode: 0 })
    cluster.settle()
    const { state, progress, currentEpoch, metrics } = cluster.job.status ?? {}
    assert.deepEqual([state, progress, currentEpoch, metrics], ['Completed', '100%', 10, { loss: 0.1 }])
    send(cluster, { epoch: 11, totalEpochs: 10 })
    const writes = cluster.writes.length
    cluster.settle()
    assert.equal(cluster.writes.length, writes)
  })

  test('the clock of another leader ran ahead', () => {
    const cluster = running()
    after(cluster, 1, { step: 1 })
    cluster.now -= 3_600 * SECOND
    send(cluster, { step: 2 })
    assert.equal(planTraining(cluster.observed).requeueAfterMs, 10 * SECOND)
  })
})

describe('what stays, and what goes back', () => {
  test('without reports in memory, as after a restart of the operator, the values stay', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 3, totalEpochs: 10, metrics: { loss: 1 } })
    const { status } = cluster.job
    cluster.reports = []
    cluster.now += 60 * SECOND
    cluster.settle()
    assert.deepEqual(cluster.job.status, status)
  })

  test('within an attempt, progress does not decrease', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 3, totalEpochs: 10, step: 30 })
    after(cluster, 20, { epoch: 2, totalEpochs: 10, step: 20, metrics: { loss: 2 } })
    const { progress, currentEpoch, step, metrics } = cluster.job.status ?? {}
    assert.deepEqual([progress, currentEpoch, step, metrics], ['30%', 3, 30, { loss: 2 }])
  })

  test('after a restart, reports of the last attempt are ignored, and the next one shows where it resumed', () => {
    const cluster = running()
    after(cluster, 1, { epoch: 5, totalEpochs: 10 })
    cluster.exitAll({ exitCode: 1 })
    cluster.settle()
    cluster.letGo()
    cluster.now += 60 * SECOND
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    const { podUid } = cluster.reports[0] ?? {}
    cluster.reports = [{ podUid: podUid ?? '', source: 'Report', receivedAt: cluster.now, report: { percent: 99 } }]
    cluster.settle()
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.progress], [2, '50%'])
    after(cluster, 1, { epoch: 4, totalEpochs: 10 })
    assert.deepEqual([cluster.job.status?.progress, cluster.job.status?.lastReport?.attempt], ['40%', 2])
  })

  test('an elastic job goes back to its checkpoint when a worker is replaced', () => {
    const command = ['torchrun', 'train.py']
    const cluster = running({ numWorkers: 3, image: 'x', command, elastic: { minWorkers: 1, maxWorkers: 3 } })
    after(cluster, 1, { step: 500, totalSteps: 1000 })
    cluster.now += 60 * SECOND
    const lost = cluster.pods.find(({ metadata }) => metadata.name === 'bert-workers-2')
    assert.ok(lost)
    cluster.exit(lost, { exitCode: 1 })
    cluster.settle()
    after(cluster, 20, { step: 400, totalSteps: 1000 })
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.progress], [1, '40%'])
  })
})

describe('the estimate', () => {
  test('is at the pace between two reports', () => {
    const cluster = running()
    after(cluster, 1_000, { percent: 10 })
    assert.equal(cluster.job.status?.estimatedCompletion, undefined)
    after(cluster, 100, { percent: 20 })
    assert.equal(remainingSeconds(cluster), 800)
  })

  test('follows a pace that changes', () => {
    const cluster = running()
    for (let percent = 0; percent <= 10; percent += 1) after(cluster, 100, { percent })
    assert.equal(remainingSeconds(cluster), 9_000)
    for (let percent = 11; percent <= 50; percent += 1) after(cluster, 10, { percent })
    assert.ok(Math.abs(remainingSeconds(cluster) - 500) < 50, `${remainingSeconds(cluster)} s`)
  })

  test('a suspension neither counts nor shows an estimate', () => {
    const cluster = running()
    after(cluster, 100, { percent: 10 })
    after(cluster, 100, { percent: 20 })
    cluster.edit({ suspend: true })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, cluster.job.status?.estimatedCompletion], ['Suspended', undefined])
    assert.equal(cluster.job.status?.progress, '20%')
    cluster.now += 86_400 * SECOND
    cluster.edit({ suspend: false, numWorkers: 4 })
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    after(cluster, 30, { percent: 15 })
    assert.equal(remainingSeconds(cluster), 850)
  })

  test('the estimate of the training code is preferred', () => {
    const cluster = running()
    after(cluster, 100, { percent: 10 })
    after(cluster, 100, { percent: 20, remainingSeconds: 33 })
    assert.equal(remainingSeconds(cluster), 33)
  })

  test('there is none for an absurd pace', () => {
    const cluster = running()
    after(cluster, 100, { percent: 0 })
    after(cluster, 100_000_000, { percent: 0.000_001 })
    after(cluster, 100, { percent: 1, remainingSeconds: Number.MAX_VALUE })
    assert.equal(cluster.job.status?.estimatedCompletion, undefined)
  })
})
