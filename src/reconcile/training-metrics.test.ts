import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { trainingJob } from '../../test/builders/training-job.ts'
import type { TrainingJobStatus } from '../api/training-status.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { addTrainingGauges } from './training-gauges.ts'
import { TrainingMetrics } from './training-metrics.ts'

const key = { namespace: 'team-a', name: 'bert' }

const condition = (reason: string) => ({ type: 'Failed', status: 'True', reason, message: '' }) as const

async function linesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('a job counts as created once, with and without its namespace', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  metrics.accepted(key)
  const lines = await linesOf(registry)
  assert.ok(lines.includes('trainingjob_created_total{namespace="team-a"} 1'))
  assert.ok(lines.includes('training_jobs_created_total 1'))
})

test('a final state counts when it is stored, with its duration, and not again', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  const times = { startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T01:30:00Z' }
  const running: TrainingJobStatus = { state: 'Running' }
  metrics.noted(key, running, { state: 'Completed', ...times })
  metrics.noted(key, { state: 'Completed', ...times }, { state: 'Completed', ...times })
  metrics.noted(key, running, { state: 'Running' })
  metrics.noted(key, running, undefined)
  metrics.noted(key, { state: 'Restarting' }, { state: 'Failed', conditions: [condition('BackoffLimitReached')] })
  const lines = await linesOf(registry)
  assert.ok(lines.includes('trainingjob_completed_total{namespace="team-a"} 1'))
  assert.ok(lines.includes('trainingjob_failed_total{namespace="team-a",reason="BackoffLimitReached"} 1'))
  assert.ok(lines.includes('training_job_duration_seconds_bucket{le="3600"} 0'))
  assert.ok(lines.includes('training_job_duration_seconds_bucket{le="7200"} 1'))
  assert.ok(lines.includes('training_job_duration_seconds_sum 5400'))
  assert.ok(lines.includes('training_job_duration_seconds_count 1'), 'a job without a start has no duration')
})

test('reconciles are timed by namespace, and errors counted by code', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  metrics.reconciled(key, { outcome: 'success', ms: 20 })
  metrics.reconciled(key, { outcome: 'error', ms: 2_000, code: 'ApiForbidden' })
  const lines = await linesOf(registry)
  assert.ok(lines.includes('trainingjob_operator_reconcile_duration_seconds_bucket{le="0.025",namespace="team-a"} 1'))
  assert.ok(lines.includes('trainingjob_operator_reconcile_duration_seconds_count{namespace="team-a"} 2'))
  assert.ok(lines.includes('trainingjob_operator_errors_total{namespace="team-a",error_type="ApiForbidden"} 1'))
})

test('namespaces that come and go do not add series without a limit', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  for (let index = 0; index < 1_005; index++) metrics.accepted({ namespace: `ci-${index}`, name: 'x' })
  const created = (await linesOf(registry)).filter((line) => line.startsWith('trainingjob_created_total'))
  assert.equal(created.length, 1_001)
  assert.ok(created.includes('trainingjob_created_total{namespace="_other"} 5'))
})

const job = (name: string, status: TrainingJobStatus = {}): TrainingJob => ({ ...trainingJob('team-a', name), status })

function exporting(jobs: () => readonly TrainingJob[], options: { isLeading?: boolean; maxObjects?: number } = {}) {
  const registry = new Registry()
  const { isLeading = true, maxObjects } = options
  addTrainingGauges({ registry, list: jobs, isLeading: () => isLeading, maxObjects })
  return registry
}

test('gauges show what the status says, and end with the job', async () => {
  let jobs = [
    job('bert', {
      state: 'Running',
      progress: '45%',
      currentEpoch: 3,
      metrics: { loss: 0.25, accuracy: 0.9 },
      workers: { active: 4 },
      resources: { allocatedGPUs: 8, gpuUtilization: 71.5 },
      workerStatuses: [{ workerId: 3, gpuUtilization: 60 }],
    }),
    job('new'),
  ]
  const registry = exporting(() => jobs)
  assert.deepEqual((await linesOf(registry)).toSorted(), [
    'trainingjob_accuracy{namespace="team-a",trainingjob="bert"} 0.9',
    'trainingjob_allocated_gpus{namespace="team-a",trainingjob="bert"} 8',
    'trainingjob_allocated_workers{namespace="team-a",trainingjob="bert"} 4',
    'trainingjob_current_epoch{namespace="team-a",trainingjob="bert"} 3',
    'trainingjob_gpu_utilization_percent{namespace="team-a",trainingjob="bert",worker="3"} 60',
    'trainingjob_gpu_utilization_percent{namespace="team-a",trainingjob="bert",worker="all"} 71.5',
    'trainingjob_loss{namespace="team-a",trainingjob="bert"} 0.25',
    'trainingjob_objects_omitted 0',
    'trainingjob_progress_percent{namespace="team-a",trainingjob="bert"} 45',
    'trainingjob_state{namespace="team-a",name="bert",state="Running"} 1',
    'trainingjob_state{namespace="team-a",name="new",state="Pending"} 1',
  ])
  jobs = []
  assert.deepEqual(await linesOf(registry), ['trainingjob_objects_omitted 0'])
})

test('with too many jobs, those that have ended are left out first, and counted', async () => {
  const ended = job('ended', { state: 'Completed', completionTime: '2026-01-01T00:00:00Z' })
  const jobs = [ended, job('one', { state: 'Running' }), job('two', { state: 'Running' })]
  assert.deepEqual(await linesOf(exporting(() => jobs, { maxObjects: 2 })), [
    'trainingjob_state{namespace="team-a",name="one",state="Running"} 1',
    'trainingjob_state{namespace="team-a",name="two",state="Running"} 1',
    'trainingjob_objects_omitted 1',
  ])
})

test('a replica that does not lead exports no jobs', async () => {
  assert.deepEqual(await linesOf(exporting(() => [job('bert')], { isLeading: false })), [
    'trainingjob_objects_omitted 0',
  ])
})
