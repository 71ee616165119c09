/** A running job without progress: when it is stalled, what is recorded, and what follows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { getCondition } from '../../../api/conditions.ts'
import type { ProgressReport } from '../../../api/training-report.ts'

const SECOND = 1_000
const TIMEOUT = 600

function running(stall: object = {}, spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ numWorkers: 2, stall: { timeoutSeconds: TIMEOUT, ...stall }, ...spec })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

/** The gang of the next attempt runs. */
function runNext(cluster: TrainingCluster): void {
  cluster.letGo()
  cluster.now += 60 * SECOND
  cluster.settle()
  cluster.runAll()
  cluster.settle()
}

function send(cluster: TrainingCluster, report: ProgressReport, rank = 0): void {
  const podUid = cluster.pods[rank]?.metadata.uid ?? ''
  const others = cluster.reports.filter((one) => one.podUid !== podUid)
  cluster.reports = [...others, { podUid, source: 'Report', receivedAt: cluster.now, report }]
  cluster.settle()
}

function wait(cluster: TrainingCluster, seconds: number): void {
  cluster.now += seconds * SECOND
  cluster.settle()
}

const stallOf = (cluster: TrainingCluster): string | undefined =>
  getCondition(cluster.job.status?.conditions, 'Stalled')?.message

describe('when', () => {
  test('after the timeout, and not before', () => {
    const cluster = running()
    send(cluster, { step: 10, totalSteps: 100 })
    wait(cluster, TIMEOUT - 2)
    assert.equal(stallOf(cluster), undefined)
    wait(cluster, 2)
    assert.equal(stallOf(cluster), 'No progress for 10m (stall.timeoutSeconds) at step 10')
    assert.equal(cluster.job.status?.state, 'Running')
    send(cluster, { step: 11, totalSteps: 100 })
    assert.equal(stallOf(cluster), undefined)
  })

  test('also if nothing was ever reported', () => {
    const cluster = running()
    wait(cluster, TIMEOUT)
    assert.match(stallOf(cluster) ?? '', /at the start: nothing was reported$/)
  })

  test('metrics alone are no progress; a checkpoint is', () => {
    const cluster = running()
    send(cluster, { step: 10, metrics: { loss: 1 } })
    wait(cluster, TIMEOUT / 2)
    send(cluster, { step: 10, metrics: { loss: 0.5 }, checkpoint: { path: '/checkpoints/10' } })
    wait(cluster, TIMEOUT - 60)
    send(cluster, { step: 10, metrics: { loss: 0.4 }, checkpoint: { path: '/checkpoints/10' } })
    assert.equal(stallOf(cluster), undefined)
    wait(cluster, 60)
    assert.ok(stallOf(cluster))
  })

  test('not while a worker is missing, nor soon after it runs again', () => {
    const cluster = running({}, { command: ['torchrun', 'x'], image: 'i', elastic: { maxWorkers: 4 } })
    send(cluster, { step: 10 })
    wait(cluster, TIMEOUT - 10)
    const [, second] = cluster.pods
    assert.ok(second)
    cluster.exit(second, { exitCode: 1 })
    cluster.settle()
    cluster.letGo()
    wait(cluster, 60)
    assert.equal(stallOf(cluster), undefined)
    cluster.runAll()
    cluster.settle()
    wait(cluster, TIMEOUT - 10)
    assert.equal(stallOf(cluster), undefined)
    wait(cluster, 20)
    assert.ok(stallOf(cluster))
  })

  test('never without spec.stall', () => {
    const cluster = running({}, { stall: undefined })
    wait(cluster, 10 * TIMEOUT)
    assert.equal(stallOf(cluster), undefined)
  })

  test('a job at rest costs one write, the condition', () => {
    const cluster = running()
    const before = cluster.writes.length
    for (let round = 0; round < 20; round += 1) wait(cluster, TIMEOUT / 4)
    assert.deepEqual(
      cluster.writes.slice(before).filter((write) => !write.startsWith('event')),
      ['status'],
    )
  })
})

describe('the clock and the operator', () => {
  for (const jump of [-86_400, -60, 60, 86_400]) {
    test(`a jump of the wall clock by ${jump} s changes nothing`, () => {
      const cluster = running()
      send(cluster, { step: 10 })
      wait(cluster, TIMEOUT / 2)
      cluster.jumpWallClock(jump * SECOND)
      wait(cluster, TIMEOUT / 2 - 2)
      assert.equal(stallOf(cluster), undefined)
      wait(cluster, 2)
      assert.ok(stallOf(cluster))
    })
  }

  test('a restart of the operator does not restart the timeout', () => {
    const cluster = running()
    send(cluster, { step: 10 })
    wait(cluster, TIMEOUT / 2)
    cluster.restartOperator()
    cluster.settle()
    wait(cluster, TIMEOUT / 2)
    assert.ok(stallOf(cluster))
  })

  test('after a long outage of the operator, pods have two minutes to report', () => {
    const cluster = running({ action: 'Restart' })
    send(cluster, { step: 10 })
    cluster.restartOperator()
    wait(cluster, 3 * TIMEOUT)
    wait(cluster, 119)
    assert.equal(stallOf(cluster), undefined)
    send(cluster, { step: 900 })
    wait(cluster, TIMEOUT - 1)
    assert.equal(stallOf(cluster), undefined)
    assert.equal(cluster.job.status?.attempts, 1)
  })

  test('a recorded stall stays after a restart of the operator, without another event', () => {
    const cluster = running()
    wait(cluster, TIMEOUT)
    const before = cluster.writes.length
    cluster.restartOperator()
    cluster.settle()
    assert.ok(stallOf(cluster))
    assert.deepEqual(cluster.writes.slice(before), [])
  })
})

describe('what follows', () => {
  test('Restart: recorded first, then a counted failure and another attempt', () => {
    const cluster = running({ action: 'Restart' })
    send(cluster, { step: 10 })
    cluster.now += TIMEOUT * SECOND
    cluster.pass()
    assert.ok(stallOf(cluster))
    assert.equal(cluster.job.status?.attempts, 1)
    cluster.pass()
    const { attempts, failures, state, lastFailure, restarts } = cluster.job.status ?? {}
    assert.deepEqual([attempts, failures, state, restarts], [2, 1, 'Restarting', 1])
    assert.deepEqual([lastFailure?.reason, lastFailure?.counted, lastFailure?.attempt], ['Stalled', true, 1])
    assert.equal(stallOf(cluster), undefined)
    cluster.settle()
    runNext(cluster)
    assert.deepEqual([cluster.job.status?.state, stallOf(cluster)], ['Running', undefined])
    wait(cluster, TIMEOUT - 5)
    assert.equal(cluster.job.status?.attempts, 2)
  })

  test('Restart, beyond backoffLimit: the job fails', () => {
    const cluster = running({ action: 'Restart' }, { backoffLimit: 1 })
    wait(cluster, TIMEOUT)
    runNext(cluster)
    wait(cluster, TIMEOUT)
    const { state, failures, reason } = cluster.job.status ?? {}
    assert.deepEqual([state, failures], ['Failed', 2])
    assert.match(reason ?? '', /^BackoffLimitReached: Worker 0 .* \(Stalled\): No progress/)
  })

  test('Restart with elastic torchrun restarts all workers', () => {
    const cluster = running(
      { action: 'Restart' },
      { image: 'i', command: ['torchrun', 'x'], elastic: { maxWorkers: 4 } },
    )
    send(cluster, { step: 9 })
    send(cluster, { step: 8 }, 1)
    wait(cluster, TIMEOUT)
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.lastFailure?.worker], [2, 1])
  })

  test('Fail: the job fails', () => {
    const cluster = running({ action: 'Fail' })
    wait(cluster, TIMEOUT)
    assert.match(cluster.job.status?.reason ?? '', /^Stalled: .*stall\.action is Fail/)
    assert.equal(cluster.job.status?.state, 'Failed')
  })

  test('Warn: an event, once, with the rank that is behind', () => {
    const cluster = running()
    send(cluster, { step: 10 })
    send(cluster, { step: 8 }, 1)
    wait(cluster, TIMEOUT)
    wait(cluster, TIMEOUT)
    send(cluster, { step: 9 }, 1)
    assert.match(stallOf(cluster) ?? '', /at step 10; Worker 1 is behind at step 8$/)
    assert.equal(cluster.job.status?.attempts, 1)
  })

  test('a suspension comes first', () => {
    const cluster = running({ action: 'Restart' })
    cluster.now += TIMEOUT * SECOND
    cluster.pass()
    cluster.edit({ suspend: true })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, cluster.job.status?.failures], ['Suspended', 0])
  })
})

test('a job that reports in time is never stalled, wherever the operator restarts and the clock jumps', () => {
  const action = fc.oneof(
    fc.record({ wait: fc.integer({ min: 1, max: 115 }) }),
    fc.constant('restart' as const),
    fc.record({ jump: fc.integer({ min: -100_000, max: 100_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const cluster = running({ action: 'Restart', timeoutSeconds: 120 })
      let step = 0
      for (const one of actions) {
        if (one === 'restart') cluster.restartOperator()
        else if ('jump' in one) cluster.jumpWallClock(one.jump * SECOND)
        else wait(cluster, one.wait)
        step += 1
        send(cluster, { step })
      }
      assert.deepEqual([cluster.job.status?.attempts, stallOf(cluster)], [1, undefined])
    }),
    { numRuns: 200 },
  )
})
