import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { CostStatus } from '../api/training-cost.ts'
import { TrainingMetrics } from './training-metrics.ts'

const key = { namespace: 'team-a', name: 'bert' }

const cost = (gpuHours: number, cpuHours: number, estimated?: number): CostStatus => ({
  gpuHours,
  cpuHours,
  ...(estimated !== undefined && { estimated }),
  attempts: [],
  time: '2026-01-01T00:00:00Z',
})

async function linesOf(registry: Registry): Promise<string[]> {
  const all = (await registry.metrics()).split('\n')
  return all.filter((line) => /^trainingjob_(gpu|cpu|estimated)/.test(line)).toSorted()
}

test('the difference between stored statuses counts, also of a job that a former operator started', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  metrics.noted(key, { cost: cost(10, 20, 5) }, { cost: cost(11, 20.5, 7.5) })
  metrics.noted(key, { cost: cost(11, 20.5, 7.5) }, { cost: cost(11, 20.5, 7.5) })
  metrics.noted(key, { cost: cost(11, 20.5, 7.5) }, undefined)
  metrics.noted(key, undefined, { state: 'Running', cost: cost(0.5, 0) })
  assert.deepEqual(await linesOf(registry), [
    'trainingjob_cpu_seconds_total{namespace="team-a"} 1800',
    'trainingjob_estimated_cost_total{namespace="team-a"} 2.5',
    'trainingjob_gpu_seconds_total{namespace="team-a"} 5400',
  ])
})

test('the end of a deleted job counts, without a status', async () => {
  const registry = new Registry()
  const metrics = new TrainingMetrics(registry)
  metrics.spent(key, cost(1, 0), cost(3, 0))
  metrics.spent(key, cost(3, 0), undefined)
  assert.deepEqual(await linesOf(registry), ['trainingjob_gpu_seconds_total{namespace="team-a"} 7200'])
})

test('a cost that became less, as after a manual edit, does not count', async () => {
  const registry = new Registry()
  new TrainingMetrics(registry).noted(key, { cost: cost(5, 5, 5) }, { cost: cost(1, 1, 1) })
  assert.deepEqual(await linesOf(registry), [])
})
