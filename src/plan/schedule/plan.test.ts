import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, ScheduleCluster } from '../../../test/sim/schedule-cluster.ts'
import { START } from '../../../test/sim/simulated-cluster.ts'
import { getCondition } from '../../api/conditions.ts'
import { scheduledTime, TIME_ANNOTATION } from './names.ts'
import { planSchedule, planScheduleRejection } from './plan.ts'

const hours = (cluster: ScheduleCluster): number[] => cluster.runs.map((run) => (scheduledTime(run) - START) / HOUR)
const creates = ({ writes }: ScheduleCluster): number => writes.filter((write) => write.startsWith('create')).length
const conditionOf = ({ schedule }: ScheduleCluster, type: string) => getCondition(schedule.status?.conditions, type)

/** The first run is active. */
function started(spec: object = {}): ScheduleCluster {
  const cluster = new ScheduleCluster(spec)
  cluster.settle()
  cluster.advance(HOUR / 2)
  assert.deepEqual(hours(cluster), [1])
  return cluster
}

function endAll(cluster: ScheduleCluster, state: 'Completed' | 'Failed' = 'Completed'): void {
  for (const run of cluster.active) cluster.end(run, state)
}

test('before the first time, nothing starts, and the next pass is at that time', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  assert.deepEqual(cluster.writes, ['status'])
  assert.equal(cluster.schedule.status?.nextScheduleTime, '2026-01-01T01:00:00Z')
  assert.equal(planSchedule(cluster.observed).requeueAfterMs, HOUR / 2)
})

test('a due run is recorded, then created, then recorded as started', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + HOUR
  cluster.pass()
  assert.equal(cluster.schedule.status?.pendingScheduleTime, '2026-01-01T01:00:00Z')
  assert.equal(cluster.runs.length, 0)
  cluster.pass()
  assert.deepEqual(cluster.writes.slice(-3), ['status', 'create nightly-29453820', 'status'])
  const { status } = cluster.schedule
  assert.equal(status?.pendingScheduleTime, undefined)
  assert.equal(status?.lastScheduleTime, '2026-01-01T01:00:00Z')
  assert.deepEqual(status?.active, [{ name: 'nightly-29453820', scheduleTime: '2026-01-01T01:00:00Z' }])
  assert.deepEqual(cluster.events, ['SuccessfulCreate'])
})

test('a run has the labels of the template and those of its schedule', () => {
  const { metadata } = started().runs[0] ?? assert.fail()
  assert.deepEqual(metadata.labels, { team: 'a', trainingschedule: 'nightly' })
  assert.equal(metadata.annotations?.[TIME_ANNOTATION], '2026-01-01T01:00:00Z')
})

test('a schedule at rest costs no write', () => {
  const cluster = started()
  const before = cluster.writes.length
  cluster.now += 10 * MINUTE
  cluster.settle()
  assert.equal(cluster.writes.length, before)
})

test('of the times that were missed, only the latest is started', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + 5 * HOUR + MINUTE
  cluster.settle()
  assert.deepEqual(hours(cluster), [5])
})

test('more than 100 missed times are reported', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + 101.5 * HOUR
  cluster.settle()
  assert.deepEqual(cluster.events, ['TooManyMissedTimes', 'SuccessfulCreate'])
})

test('a run that is later than the deadline is missed, and reported once', () => {
  const cluster = new ScheduleCluster({ startingDeadlineSeconds: 60 })
  cluster.settle()
  cluster.now = START + HOUR + 2 * MINUTE
  cluster.settle()
  cluster.now += MINUTE
  cluster.settle()
  assert.equal(creates(cluster), 0)
  assert.deepEqual(cluster.events, ['MissSchedule'])
  assert.match(conditionOf(cluster, 'OnSchedule')?.message ?? '', /01:00:00Z was missed.*startingDeadlineSeconds/)
  cluster.advance(HOUR)
  assert.deepEqual(hours(cluster), [2])
  assert.equal(conditionOf(cluster, 'OnSchedule')?.status, 'True')
})

test('Forbid: a run waits for the one before, and starts when that has ended', () => {
  const cluster = started()
  cluster.advance(2 * HOUR)
  assert.deepEqual(hours(cluster), [1])
  assert.equal(conditionOf(cluster, 'OnSchedule')?.reason, 'JobAlreadyActive')
  assert.deepEqual(cluster.events.filter((reason) => reason === 'JobAlreadyActive').length, 2)
  endAll(cluster)
  cluster.settle()
  assert.deepEqual(hours(cluster), [1, 3])
  assert.ok(cluster.events.includes('SawCompletedJob'))
})

test('Forbid: a run that is being deleted still counts', () => {
  const cluster = started()
  cluster.terminate(cluster.runs[0] ?? assert.fail())
  cluster.now += HOUR
  cluster.pass()
  cluster.pass()
  assert.deepEqual(hours(cluster), [1])
})

test('Allow: runs overlap', () => {
  const cluster = started({ concurrencyPolicy: 'Allow' })
  cluster.advance(2 * HOUR)
  assert.deepEqual(hours(cluster), [1, 2, 3])
  assert.equal(cluster.schedule.status?.activeCount, 3)
})

test('Replace: the run before is gone before the next one is created, however late that is', () => {
  const cluster = started({ concurrencyPolicy: 'Replace', startingDeadlineSeconds: 10 })
  cluster.now += HOUR
  for (let pass = 0; pass < 4; pass += 1) cluster.pass()
  assert.deepEqual(cluster.writes.slice(-2), ['status', 'delete nightly-29453820'])
  assert.deepEqual(hours(cluster), [1])
  cluster.now += MINUTE
  cluster.settle()
  assert.deepEqual(hours(cluster), [2])
})

test('suspended: no run starts, a pending one is given up, and the latest missed one starts afterwards', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + HOUR
  cluster.pass()
  cluster.edit({ suspend: true })
  cluster.advance(3 * HOUR)
  assert.equal(creates(cluster), 0)
  assert.equal(cluster.schedule.status?.pendingScheduleTime, undefined)
  assert.equal(cluster.schedule.status?.nextScheduleTime, undefined)
  assert.equal(conditionOf(cluster, 'Ready')?.reason, 'Suspended')
  cluster.edit({ suspend: false })
  cluster.settle()
  assert.deepEqual(hours(cluster), [4])
})

test('an invalid schedule is reported with the field and the fix, and costs no retry', () => {
  const cluster = new ScheduleCluster({ schedule: '0 0 30 2 *' })
  cluster.settle()
  assert.equal(conditionOf(cluster, 'Ready')?.reason, 'InvalidSchedule')
  assert.equal(planSchedule(cluster.observed).requeueAfterMs, undefined)
})

test('the history keeps the latest runs of each result, and deletes a run only after its end is recorded', () => {
  const cluster = started({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 })
  const results = ['Completed', 'Failed', 'Completed', 'Completed'] as const
  for (const state of results) {
    endAll(cluster, state)
    cluster.pass()
    assert.equal(cluster.writes.at(-1), 'status')
    cluster.advance(HOUR)
  }
  assert.deepEqual(hours(cluster), [4, 5])
  assert.equal(cluster.schedule.status?.lastSuccessfulTime, '2026-01-01T04:00:00Z')
})

test('a name that another object has is reported, and the next time starts', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.foreign = { apiVersion: 'ml.example.com/v1', kind: 'TrainingJob', metadata: { name: 'nightly-29453820' } }
  cluster.advance(HOUR)
  assert.equal(creates(cluster), 0)
  assert.equal(conditionOf(cluster, 'Conflict')?.status, 'True')
  assert.match(conditionOf(cluster, 'Ready')?.message ?? '', /TrainingJob\/nightly-29453820.*delete or rename it/)
  cluster.advance(HOUR)
  assert.deepEqual(hours(cluster), [2])
  assert.equal(conditionOf(cluster, 'Conflict'), undefined)
  assert.ok(cluster.events.includes('MissSchedule'))
})

test('a run that was deleted before it was recorded is not started again', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + HOUR
  cluster.pass()
  cluster.pass(1)
  assert.deepEqual(hours(cluster), [1])
  cluster.terminate(cluster.runs[0] ?? assert.fail())
  cluster.forget()
  cluster.settle()
  assert.equal(creates(cluster), 1)
  assert.equal(cluster.schedule.status?.lastScheduleTime, '2026-01-01T01:00:00Z')
})

test('after the clock went back, no time runs again, and the schedule says so', () => {
  const cluster = started()
  endAll(cluster)
  cluster.now = START + HOUR / 2
  cluster.settle()
  assert.deepEqual(hours(cluster), [1])
  cluster.now = START - HOUR
  cluster.settle()
  assert.equal(conditionOf(cluster, 'OnSchedule')?.reason, 'ClockWentBack')
  assert.equal(cluster.schedule.status?.nextScheduleTime, '2026-01-01T02:00:00Z')
})

test('a rejected run stays pending, and one cause is recorded once', () => {
  const cluster = new ScheduleCluster()
  cluster.settle()
  cluster.now = START + HOUR
  cluster.pass()
  const rejection = { reason: 'Refused', message: 'spec.jobTemplate: no' }
  cluster.commit(planScheduleRejection(cluster.observed, rejection))
  assert.equal(conditionOf(cluster, 'Ready')?.reason, 'Refused')
  assert.equal(cluster.schedule.status?.pendingScheduleTime, '2026-01-01T01:00:00Z')
  const before = cluster.writes.length
  cluster.commit(planScheduleRejection(cluster.observed, rejection))
  assert.equal(cluster.writes.length, before)
  cluster.settle()
  assert.deepEqual(hours(cluster), [1])
  assert.equal(conditionOf(cluster, 'Ready')?.status, 'True')
})
