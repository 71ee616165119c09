import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJob } from '../../test/sim/training-cluster.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { CacheEvent } from '../runtime/index.ts'
import { HistoryStore } from './training-history.ts'

/** The job after its report number `step`. */
function reported(step: number, uid = 'job', state: 'Running' | 'Completed' = 'Running'): TrainingJob {
  const job = trainingJob()
  const lastReport = { time: new Date(step * 10_000).toISOString(), attempt: 1, source: 'Report' as const }
  return {
    ...job,
    metadata: { ...job.metadata, uid },
    status: { state, step, metrics: { loss: 1 / step }, lastReport },
  }
}

const added = (object: TrainingJob, initial = false): CacheEvent<TrainingJob> => ({ type: 'add', object, initial })

for (const count of [1, 150, 200, 1_000, 3_333])
  test(`${count} reports become an even curve of at most 200 points with the first and the last`, () => {
    const store = new HistoryStore()
    for (let step = 1; step <= count; step += 1) {
      store.onJob(added(reported(step)))
      store.onJob(added(reported(step)))
    }
    const steps = store.of('job').metrics.map(({ step = 0 }) => step)
    assert.ok(steps.length <= 200 && steps.length >= Math.min(count, 100), `${steps.length} points`)
    assert.deepEqual([steps[0], steps.at(-1)], [1, count])
    const gaps = new Set(steps.slice(1, -1).map((step, at) => step - (steps[at] ?? 0)))
    assert.ok(gaps.size <= 1, `gaps ${[...gaps].join(', ')}`)
  })

test('jobs that had ended before, have gone or are kept are not collected', () => {
  const store = new HistoryStore()
  store.onJob(added(reported(1, 'ended', 'Completed'), true))
  store.onJob(added(reported(1, 'gone')))
  store.onJob({ type: 'delete', object: reported(1, 'gone'), initial: false })
  store.onJob(added(reported(1, 'kept')))
  const labels = { 'trainingjob.ml.example.com/job-uid': 'kept' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bert-history', labels } }
  store.onConfigMap({ type: 'add', object, initial: false })
  assert.equal(store.size, 0)
})

test('jobs and logs are bounded', () => {
  const store = new HistoryStore()
  for (let job = 0; job < 1_000; job += 1) store.onJob(added(reported(1, String(job))))
  assert.equal(store.size, 512)
  const log = (text: string) => ({ pod: 'p', role: 'worker', index: 0, attempt: 1, log: text })
  for (let pod = 0; pod < 20; pod += 1) store.addLog('1', String(pod), log('line'))
  assert.deepEqual([...store.of('1').logs.keys()], ['12', '13', '14', '15', '16', '17', '18', '19'])
  for (let job = 2; job < 512; job += 1) store.addLog(String(job), 'p', log('x'.repeat(100_000)))
  const kept = Array.from({ length: 512 }, (_, job) => store.of(String(job)).logs.get('p')?.log.length ?? 0)
  const characters = kept.reduce((sum, length) => sum + length, 0)
  assert.ok(characters > 0 && characters <= 16 * 1024 * 1024, `${characters} characters`)
})
