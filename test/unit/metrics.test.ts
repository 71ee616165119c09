/** The metrics that the specifications of the operator name, with their types and labels. They are a contract. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorMetrics, routerCatalogue } from '../../scripts/monitoring/catalogue.ts'

const JOB = ['namespace', 'trainingjob']

const contract: Readonly<Record<string, readonly [type: string, labels: readonly string[]]>> = {
  trainingjob_created_total: ['counter', ['namespace']],
  trainingjob_completed_total: ['counter', ['namespace']],
  trainingjob_failed_total: ['counter', ['namespace', 'reason']],
  trainingjob_state: ['gauge', ['namespace', 'name', 'state']],
  trainingjob_allocated_gpus: ['gauge', JOB],
  trainingjob_allocated_workers: ['gauge', JOB],
  trainingjob_gpu_utilization_percent: ['gauge', [...JOB, 'worker']],
  trainingjob_progress_percent: ['gauge', JOB],
  trainingjob_current_epoch: ['gauge', JOB],
  trainingjob_loss: ['gauge', JOB],
  trainingjob_accuracy: ['gauge', JOB],
  trainingjob_operator_reconcile_duration_seconds: ['histogram', ['namespace']],
  trainingjob_operator_errors_total: ['counter', ['namespace', 'error_type']],
  training_jobs_created_total: ['counter', []],
  training_job_duration_seconds: ['histogram', []],
  model_deployments_created_total: ['counter', []],
  model_validations_total: ['counter', ['status']],
}

const metrics = operatorMetrics()

test('every metric of the contract exists, with its type and labels', () => {
  for (const [name, [type, labels]] of Object.entries(contract)) {
    const metric = metrics.find((one) => one.name === name)
    assert.deepEqual([metric?.type, metric?.labels], [type, labels], name)
  }
})

test('names end with _total for counters only, and every metric is described', () => {
  for (const { name, type, help } of [...metrics, ...routerCatalogue()]) {
    if (!name.startsWith('process_') && !name.startsWith('nodejs_'))
      assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.match(help, /\w/, name)
  }
})
