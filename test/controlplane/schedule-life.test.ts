/** The lifecycle of a TrainingSchedule on a real API server, with a clock of the test and workers of a fake kubelet. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { trainingJobs, trainingSchedules } from '../../src/api/kinds.ts'
import { controllerOf } from '../../src/kube/object.ts'
import { trainingJob } from '../builders/training-job.ts'
import { trainingSchedule } from '../builders/training-schedule.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { monthAfter, NAME, runAt, scheduleFixture } from '../fixtures/schedule.ts'
import { until } from '../timing/until.ts'

const api = await apiCluster()
const { client } = api
const succeed = () => ({ exitCode: 0 })
const [first, second, third] = [monthAfter(1), monthAfter(2), monthAfter(3)]
const at = (time: number): string => new Date(time).toISOString().replace('.000', '')

describe('a TrainingSchedule', () => {
  test('starts a run at its time, records its end, and keeps the history within the limits', async (t) => {
    const { create, time, has, is, emits, ns } = await scheduleFixture(t, api, succeed)
    await create({ successfulJobsHistoryLimit: 1 })
    await is('the next time', ({ status }) => status?.nextScheduleTime === at(first))
    await has([])
    time.now = first
    await is('the first success', ({ status }) => status?.lastSuccessfulTime !== undefined && status.activeCount === 0)
    const job = await client.get(trainingJobs, { namespace: ns, name: runAt(first) })
    const owner = controllerOf(job)
    assert.deepEqual([owner?.kind, owner?.name], ['TrainingSchedule', NAME])
    assert.equal(job.metadata.annotations?.['trainingschedule.ml.example.com/scheduled-time'], at(first))
    assert.equal(job.metadata.labels?.['trainingschedule'], NAME)
    await has([runAt(first)])
    time.now = second + 1000
    await has([runAt(second)])
    await is('the second time', ({ status }) => status?.lastScheduleTime === at(second))
    for (const reason of ['SuccessfulCreate', 'SawCompletedJob', 'SuccessfulDelete']) await emits(reason)
  })

  test('Forbid: waits for the run before; a schedule that waits costs no write', async (t) => {
    const { create, time, has, hasCondition, emits, kubelet, audit, passesThrice } = await scheduleFixture(t, api)
    await create()
    time.now = first
    await has([runAt(first)])
    time.now = second
    await hasCondition('OnSchedule', 'JobAlreadyActive')
    await emits('JobAlreadyActive')
    await passesThrice()
    await audit.take()
    await passesThrice()
    // The status of the run is written by the controller of jobs, whenever its pods change.
    const writes = (await audit.take()).filter((call) => !/^patch trainingjobs\/.*\/status /.test(call))
    assert.deepEqual(writes, [])
    kubelet.decide(succeed)
    await has([runAt(first), runAt(second)])
  })

  test('Replace: deletes the run before, and then starts the next one', async (t) => {
    const { create, time, has } = await scheduleFixture(t, api)
    await create({ concurrencyPolicy: 'Replace' })
    time.now = first
    await has([runAt(first)])
    time.now = second
    await has([runAt(second)])
  })

  test('continues after a restart, starts only the latest missed run, and none while suspended', async (t) => {
    const { create, change, time, has, hasCondition, restart } = await scheduleFixture(t, api, succeed)
    await create({ suspend: true })
    time.now = second
    await hasCondition('Ready', 'Suspended')
    await has([])
    time.now = third
    await change({ suspend: false })
    await restart()
    await has([runAt(third)])
    await hasCondition('OnSchedule', 'OnTime')
  })

  test('reports a name that another object has, and starts the run when the name is free', async (t) => {
    const { create, time, has, hasCondition, ns, is } = await scheduleFixture(t, api, succeed)
    await client.create(trainingJobs, trainingJob(ns, runAt(first), { suspend: true }))
    await create()
    time.now = first
    await hasCondition('Conflict', 'NotControlled')
    await client.delete(trainingJobs, { namespace: ns, name: runAt(first) })
    await has([runAt(first)])
    const { status } = await is('the run to be recorded', (found) => found.status?.lastScheduleTime === at(first))
    assert.equal(
      status?.conditions?.some(({ type }) => type === 'Conflict'),
      false,
    )
  })

  test('reports what admission rejects in a run, and starts it after the template is corrected', async (t) => {
    const { create, change, time, has, hasCondition, audit, passesThrice } = await scheduleFixture(t, api)
    const metadata = { labels: { 'not a label': 'x' } }
    await create({ jobTemplate: { metadata, ...trainingSchedule('', NAME).spec.jobTemplate } })
    time.now = first
    const { status } = await hasCondition('Ready', 'Refused')
    assert.match(JSON.stringify(status?.conditions), /not a label/)
    await passesThrice()
    const rejected = (await audit.take()).filter((write) => write.startsWith('create trainingjobs'))
    assert.ok(rejected.length < 5, `${rejected.length} attempts`)
    await change({ jobTemplate: { metadata: { labels: { 'not a label': null, valid: 'x' } } } })
    await has([runAt(first)])
    await hasCondition('Ready', 'Scheduled')
  })

  test('reports a day that does not exist, and an unknown time zone', async (t) => {
    const { create, change, hasCondition } = await scheduleFixture(t, api)
    await create({ schedule: '0 0 30 2 *' })
    await hasCondition('Ready', 'InvalidSchedule')
    await change({ schedule: '0 0 28 2 *', timeZone: 'Mars/Base' })
    await hasCondition('Ready', 'InvalidTimeZone')
    await change({ timeZone: 'Europe/Berlin' })
    await hasCondition('Ready', 'Scheduled')
  })

  test('deletes its runs with itself', async (t) => {
    const { create, time, has, ns } = await scheduleFixture(t, api)
    await create()
    time.now = first
    await has([runAt(first)])
    await client.delete(trainingSchedules, { namespace: ns, name: NAME })
    await has([])
  })
})

describe('a run of a schedule', () => {
  test('is not changed by the schedule: users may suspend or edit it', async (t) => {
    const { create, change, time, has, ns, passesThrice } = await scheduleFixture(t, api)
    await create()
    time.now = first
    await has([runAt(first)])
    const key = { namespace: ns, name: runAt(first) }
    await client.patch(trainingJobs, key, { spec: { backoffLimit: 7 } })
    await change({ jobTemplate: { spec: { gpusPerWorker: 2, backoffLimit: 1 } } })
    await passesThrice()
    const { spec } = await until('the job', () => client.get(trainingJobs, key))
    assert.deepEqual([spec.backoffLimit, spec.gpusPerWorker], [7, 0])
  })
})
