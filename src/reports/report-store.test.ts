import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../runtime/fake-clock.ts'
import { ReportStore, type ReportStoreOptions } from './report-store.ts'

const job = (uid = 'job') => ({ uid, key: { namespace: 'team-a', name: uid } })

function stored(options: Partial<ReportStoreOptions> = {}) {
  const clock = new FakeClock()
  return { clock, store: new ReportStore({ clock, ...options }) }
}

test('later values replace earlier ones, and others stay', () => {
  const { store } = stored()
  store.add(job(), 'a', { epoch: 1, metrics: { loss: 2, lr: 1 } })
  store.add(job(), 'a', { metrics: { loss: 1 } })
  const [progress] = store.of('job')
  assert.deepEqual([progress?.report.epoch, progress?.report.metrics], [1, { loss: 1, lr: 1 }])
})

test('a position replaces the percentage of an earlier report', () => {
  const { store } = stored()
  store.add(job(), 'a', { percent: 50, remainingSeconds: 9 })
  store.add(job(), 'a', { epoch: 9 })
  const { percent, remainingSeconds, epoch } = store.of('job')[0]?.report ?? {}
  assert.deepEqual([percent, remainingSeconds, epoch], [undefined, undefined, 9])
})

test('a checkpoint is as old as its first report', () => {
  const { store, clock } = stored()
  const reportedAt = (): number | undefined => store.of('job')[0]?.report.checkpoint?.reportedAt
  const first = clock.now()
  store.add(job(), 'a', { checkpoint: { path: '/c/1', step: 1 } })
  clock.advance(5)
  store.add(job(), 'a', { step: 2 })
  store.add(job(), 'a', { checkpoint: { path: '/c/1', step: 1 } })
  assert.equal(reportedAt(), first)
  store.add(job(), 'a', { checkpoint: { path: '/c/2', step: 2 } })
  assert.equal(reportedAt(), first + 5)
  store.add(job(), 'a', { checkpoint: { path: '/c/last' } })
  clock.advance(5)
  store.add(job(), 'a', { checkpoint: { path: '/c/last' } })
  assert.equal(reportedAt(), first + 10, 'without a step, it is another one')
})

test('a report that arrives late is ignored, and a clock that is ahead blocks nothing', () => {
  const { store, clock } = stored()
  const now = clock.now()
  store.add(job(), 'a', { step: 2, time: now - 1_000 })
  store.add(job(), 'a', { step: 1, time: now - 2_000 })
  assert.equal(store.of('job')[0]?.report.step, 2)
  store.add(job(), 'a', { step: 3, time: now + 86_400_000 })
  clock.advance(1)
  store.add(job(), 'a', { step: 4, time: now + 1 })
  assert.equal(store.of('job')[0]?.report.step, 4)
})

test('jobs, pods and metrics are bounded', () => {
  const { store } = stored({ maxJobs: 2, maxPods: 2 })
  for (const pod of ['a', 'b', 'c']) store.add(job('1'), pod, { epoch: 1 })
  assert.deepEqual(
    store.of('1').map(({ podUid }) => podUid),
    ['b', 'c'],
  )
  for (const uid of ['2', '3']) store.add(job(uid), 'a', { epoch: 1 })
  assert.deepEqual([store.size, store.of('1')], [2, []])
  for (let index = 0; index < 100; index += 1) store.add(job('3'), 'a', { metrics: { [`m${index}`]: 1 } })
  assert.equal(Object.keys(store.of('3')[0]?.report.metrics ?? {}).length, 32)
  store.forget('3')
  assert.equal(store.size, 1)
})

test('a wall clock that is set back blocks no reports', () => {
  const { store, clock } = stored()
  store.add(job(), 'a', { step: 1, time: clock.now() })
  store.add(job(), 'b', { step: 1 })
  clock.jumpWallClock(-3_600_000)
  store.add(job(), 'a', { step: 2, time: clock.now() })
  store.add(job(), 'b', { step: 2 })
  assert.deepEqual(
    store.of('job').map(({ report }) => report.step),
    [2, 2],
  )
})

test('the reports of all jobs are bounded', () => {
  const { store } = stored({ maxReports: 5 })
  for (const uid of ['1', '2', '3']) for (const pod of ['a', 'b']) store.add(job(uid), pod, { step: 1 })
  assert.deepEqual([store.size, store.of('1'), store.of('3').length], [2, [], 2])
  store.forget('2')
  for (const pod of ['a', 'b', 'c']) store.add(job('4'), pod, { step: 1 })
  assert.deepEqual([store.size, store.of('4').length], [2, 3])
})

test('wakes the controller of a job at most once a second', () => {
  const { store, clock } = stored()
  const woken: string[] = []
  store.onReport(({ name }) => woken.push(name))
  for (let index = 0; index < 20; index += 1) store.add(job('1'), 'a', { step: index })
  store.add(job('2'), 'a', { step: 1 })
  assert.deepEqual(woken, [])
  clock.advance(1_000)
  assert.deepEqual(woken, ['1', '2'])
  store.add(job('1'), 'a', { step: 21 })
  clock.advance(1_000)
  assert.deepEqual(woken, ['1', '2', '1'])
})
