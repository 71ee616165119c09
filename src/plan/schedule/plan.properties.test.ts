/**
 * Random histories: time passes and jumps while the operator runs, is down or dies after any of its writes; runs end and
 * are deleted; users edit the spec. The oracles are checked at every write.
 */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, ScheduleCluster, timesBetween } from '../../../test/sim/schedule-cluster.ts'
import { scheduledTime } from './names.ts'

const RUNS = { numRuns: 100 }

/** What must hold at every write of one history. */
function oracles(): (write: string, cluster: ScheduleCluster) => void {
  const created = new Set<string>()
  let last = 0
  return (write, cluster) => {
    const [verb = '', name = ''] = write.split(' ')
    const { spec, status } = cluster.schedule
    if (verb === 'create') {
      assert.ok(!created.has(name), `S1: ${name} is created once`)
      created.add(name)
      assert.ok(spec.concurrencyPolicy === 'Allow' || cluster.active.length === 1, `S2: ${name} runs alone`)
      assert.ok(!spec.suspend, 'S3: no run starts while the schedule is suspended')
    }
    const run = cluster.run(name)
    if (verb === 'delete' && run?.status?.state === 'Running')
      assert.equal(spec.concurrencyPolicy, 'Replace', `S4: ${name} is deleted while it runs`)
    const now = Date.parse(status?.lastScheduleTime ?? '') || 0
    assert.ok(now >= last, 'S5: lastScheduleTime never decreases')
    last = now
  }
}

type Move = (cluster: ScheduleCluster) => void

const minutes = (most: number) => fc.integer({ min: 1, max: most }).map((count) => count * MINUTE)
const nth = fc.nat({ max: 5 })

const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: minutes(180).map(
      (ms): Move =>
        (cluster) =>
          cluster.advance(ms),
    ),
  },
  {
    weight: 2,
    arbitrary: minutes(600).map(
      (ms): Move =>
        (cluster) =>
          void (cluster.now += ms),
    ),
  },
  {
    weight: 1,
    arbitrary: minutes(120).map(
      (ms): Move =>
        (cluster) =>
          void (cluster.now -= ms),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 3 }).map(
      (survives): Move =>
        (cluster) =>
          void cluster.pass(survives),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(nth, fc.constantFrom('Completed', 'Failed')).map(([index, state]): Move => (cluster) => {
      const run = cluster.active[index]
      if (run) cluster.end(run, state)
    }),
  },
  {
    weight: 1,
    arbitrary: nth.map((index): Move => (cluster) => {
      const run = cluster.runs[index]
      if (run) cluster.terminate(run)
    }),
  },
  { weight: 1, arbitrary: fc.constant<Move>((cluster) => cluster.forget()) },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (suspend): Move =>
        (cluster) =>
          cluster.edit({ suspend }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0 * * * *', '*/20 * * * *', '30 */3 * * *').map(
      (schedule): Move =>
        (cluster) =>
          cluster.edit({ schedule }),
    ),
  },
)

const specs = fc.record({
  concurrencyPolicy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
  startingDeadlineSeconds: fc.constantFrom(undefined, 30, 1800),
  successfulJobsHistoryLimit: fc.nat({ max: 2 }),
  failedJobsHistoryLimit: fc.nat({ max: 1 }),
})

test('no time runs twice, and the policy holds, whatever happens', () => {
  const history = fc.tuple(specs, fc.array(moves, { maxLength: 40 }))
  fc.assert(
    fc.property(history, ([spec, steps]) => {
      const cluster = new ScheduleCluster(spec, { onWrite: oracles() })
      for (const step of steps) step(cluster)
      cluster.settle()
      cluster.forget()
      cluster.settle()
      const { status } = cluster.schedule
      assert.equal(status?.activeCount, cluster.active.length)
      if (cluster.schedule.spec.suspend) assert.equal(status?.pendingScheduleTime, undefined)
      const finished = cluster.runs.filter((run) => !cluster.active.includes(run))
      assert.ok(finished.length <= spec.successfulJobsHistoryLimit + spec.failedJobsHistoryLimit)
    }),
    RUNS,
  )
})

test('while the operator runs and crashes, no time is missed', () => {
  const crashes = fc.array(fc.nat({ max: 2 }), { maxLength: 6 })
  fc.assert(
    fc.property(
      fc.constantFrom('*/20 * * * *', '0 * * * *'),
      crashes,
      fc.integer({ min: 2, max: 5 }),
      (schedule, survives, count) => {
        const cluster = new ScheduleCluster({ schedule, concurrencyPolicy: 'Allow' }, { onWrite: oracles() })
        cluster.settle()
        const start = cluster.now
        const times = timesBetween(schedule, start, start + count * HOUR)
        for (const time of times) {
          cluster.now = time
          for (const writes of survives) cluster.pass(writes)
          cluster.settle()
        }
        assert.deepEqual(cluster.runs.map(scheduledTime), times)
      },
    ),
    RUNS,
  )
})
