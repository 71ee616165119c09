/** When a changed number of workers takes effect: the rate limit, and the wait for a checkpoint. */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { isTrue, MINUTE, started, worldSizes } from '../../../../test/sim/training-moves.ts'
import { timestamp } from '../../time.ts'

const elastic = { minWorkers: 1, maxWorkers: 8, resizePolicy: 'AtCheckpoint', maxWaitSeconds: 600 } as const

/** A pod reports a checkpoint now. */
function checkpoint(cluster: TrainingCluster, step: number): void {
  const [pod] = cluster.pods
  const report = { step, checkpoint: { path: `/c/${step}`, step, reportedAt: cluster.now } }
  cluster.reports = [{ podUid: pod?.metadata.uid ?? '', source: 'Report', receivedAt: cluster.now, report }]
}

function trained(more: object = {}): TrainingCluster {
  const cluster = started({ numWorkers: 2, elastic: { ...elastic, ...more } })
  checkpoint(cluster, 10)
  cluster.settle()
  cluster.now += MINUTE
  return cluster
}

/** The next gang runs. */
function restart(cluster: TrainingCluster): void {
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.runAll()
  cluster.settle()
}

const sizeOf = ({ job }: TrainingCluster): number | undefined => job.status?.worldSize
const resizeOf = ({ job }: TrainingCluster) => job.status?.resize

test('waits for the next checkpoint, and says so', () => {
  const cluster = trained()
  const requestedAt = cluster.now
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  assert.equal(sizeOf(cluster), 2)
  assert.deepEqual(resizeOf(cluster), {
    desired: 4,
    current: 2,
    reason: 'WaitingForCheckpoint',
    message: `Scaling from 2 to 4 workers waits for the next checkpoint, at most until ${timestamp(requestedAt + 10 * MINUTE)}`,
    requestedTime: timestamp(requestedAt),
    deadline: timestamp(requestedAt + 10 * MINUTE),
    lastCheckpointTime: timestamp(requestedAt - MINUTE),
  })
  assert.deepEqual([cluster.job.status?.state, isTrue(cluster, 'ResizePending')], ['Running', true])
  assert.equal(cluster.events.filter((reason) => reason === 'ResizePending').length, 1)
  cluster.now += MINUTE
  checkpoint(cluster, 20)
  restart(cluster)
  assert.deepEqual(worldSizes(cluster), ['4', '4', '4', '4'])
  const { failures, restarts, resize, lastResizeTime } = cluster.job.status ?? {}
  assert.deepEqual([failures, restarts, resize, lastResizeTime], [0, 1, undefined, timestamp(requestedAt + MINUTE)])
  assert.ok(!isTrue(cluster, 'ResizePending'))
})

test('the wait is bounded, and further changes do not prolong it', () => {
  const cluster = trained()
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  const { deadline } = resizeOf(cluster) ?? {}
  cluster.now += 9 * MINUTE
  cluster.edit({ numWorkers: 3 })
  cluster.settle()
  assert.deepEqual([sizeOf(cluster), resizeOf(cluster)?.desired, resizeOf(cluster)?.deadline], [2, 3, deadline])
  cluster.now += MINUTE
  cluster.settle()
  assert.equal(sizeOf(cluster), 3)
})

test('a number that changes back ends the wait without a restart', () => {
  const cluster = trained()
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  cluster.edit({ numWorkers: 2 })
  cluster.settle()
  assert.equal(resizeOf(cluster), undefined)
  cluster.now += 60 * MINUTE
  checkpoint(cluster, 20)
  cluster.settle()
  assert.deepEqual([sizeOf(cluster), cluster.job.status?.attempts], [2, 1])
})

test('the wait survives a restart of the operator, which has no reports then', () => {
  const cluster = trained()
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  cluster.reports = []
  cluster.settle()
  assert.equal(resizeOf(cluster)?.reason, 'WaitingForCheckpoint')
  cluster.now += 10 * MINUTE
  cluster.settle()
  assert.equal(sizeOf(cluster), 4)
})

for (const [clock, ahead] of [
  ['ahead of', 60 * MINUTE],
  ['behind', -60 * MINUTE],
] as const)
  test(`waits for the next checkpoint if the clock of the operator is ${clock} that of the reports`, () => {
    const cluster = trained()
    cluster.now += ahead
    cluster.edit({ numWorkers: 4 })
    cluster.settle()
    assert.deepEqual([sizeOf(cluster), resizeOf(cluster)?.reason], [2, 'WaitingForCheckpoint'])
    cluster.now += MINUTE - ahead
    checkpoint(cluster, 20)
    cluster.now += ahead
    cluster.settle()
    assert.equal(sizeOf(cluster), 4)
  })

const atOnce: readonly [string, () => TrainingCluster][] = [
  ['with the policy Now', () => trained({ resizePolicy: 'Now' })],
  ['without a wait', () => trained({ maxWaitSeconds: 0 })],
  ['if no checkpoint was ever reported', () => started({ numWorkers: 2, elastic })],
]

for (const [when, cluster] of atOnce)
  test(`takes effect at once ${when}`, () => {
    const now = cluster()
    now.edit({ numWorkers: 4 })
    now.settle()
    assert.equal(sizeOf(now), 4)
  })

test('a second change waits for the interval, then for a checkpoint that completes after it', () => {
  const cluster = trained()
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  checkpoint(cluster, 20)
  restart(cluster)
  cluster.now += MINUTE
  cluster.edit({ numWorkers: 2 })
  cluster.settle()
  assert.equal(resizeOf(cluster)?.reason, 'RateLimited')
  cluster.now += MINUTE
  checkpoint(cluster, 30)
  cluster.settle()
  assert.deepEqual([sizeOf(cluster), resizeOf(cluster)?.reason], [4, 'RateLimited'])
  cluster.now += 3 * MINUTE
  cluster.settle()
  assert.deepEqual([sizeOf(cluster), resizeOf(cluster)?.reason], [4, 'WaitingForCheckpoint'])
  checkpoint(cluster, 40)
  cluster.settle()
  assert.equal(sizeOf(cluster), 2)
})

test('a change before any worker has started is neither limited nor delayed', () => {
  const cluster = trained({ resizePolicy: 'Now' })
  cluster.edit({ numWorkers: 8 })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.edit({ numWorkers: 1 })
  cluster.settle()
  assert.deepEqual(worldSizes(cluster), ['1'])
})

test('a restart for another reason has the new size', () => {
  const cluster = trained()
  cluster.edit({ numWorkers: 4 })
  cluster.settle()
  const [pod] = cluster.pods
  assert.ok(pod)
  cluster.exit(pod, { exitCode: 1 })
  cluster.settle()
  assert.deepEqual([sizeOf(cluster), resizeOf(cluster)], [4, undefined])
})

test('however often the number changes, the gang restarts at most once in the interval', () => {
  const change = fc.record({ size: fc.integer({ min: 1, max: 8 }), seconds: fc.integer({ min: 0, max: 400 }) })
  const changes = fc.array(change, { minLength: 1, maxLength: 25 })
  fc.assert(
    fc.property(changes, fc.constantFrom('AtCheckpoint', 'Now'), fc.boolean(), (moves, resizePolicy, reports) => {
      const cluster = started({ numWorkers: 2, elastic: { ...elastic, resizePolicy } })
      const resizes: number[] = []
      for (const { size, seconds } of moves) {
        const before = cluster.job.status?.restarts
        cluster.edit({ numWorkers: size })
        if (reports) checkpoint(cluster, cluster.now)
        restart(cluster)
        if (cluster.job.status?.restarts !== before) resizes.push(cluster.now)
        cluster.now += seconds * 1000
      }
      const gaps = resizes.slice(1).map((time, index) => time - (resizes[index] ?? 0))
      assert.ok(
        gaps.every((gap) => gap >= cluster.config.resizeIntervalMs - 1000),
        `gaps ${gaps.join(', ')}`,
      )
      const last = moves.at(-1)?.size
      cluster.now += 30 * MINUTE
      cluster.settle()
      assert.deepEqual([sizeOf(cluster), cluster.job.status?.failures], [last, 0])
    }),
    { numRuns: 100 },
  )
})
