import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { modelDeployment } from '../../test/builders/model-deployment.ts'
import type { Model } from '../plan/serving/index.ts'
import { addServingGauges } from './serving-gauges.ts'
import { ServingMetrics } from './serving-metrics.ts'

async function linesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('a model counts as created once, and each validation when its result is stored', async () => {
  const registry = new Registry()
  const metrics = new ServingMetrics(registry)
  const first = { observedGeneration: 1, activeVersions: [{ name: 'v1' }] }
  const validated = { ...first, activeVersions: [{ name: 'v1', validated: 'abc' }] }
  const failed = { ...first, activeVersions: [{ name: 'v1', reason: 'ValidationFailed' }] }
  metrics.noted(undefined, first)
  metrics.noted(first, validated)
  metrics.noted(validated, validated)
  metrics.noted(first, failed)
  metrics.noted(failed, failed)
  assert.deepEqual(await linesOf(registry), [
    'model_deployments_created_total 1',
    'model_validations_total{status="succeeded"} 1',
    'model_validations_total{status="failed"} 1',
  ])
})

test('an eviction counts when its pod is gone, and not when it was dropped', async () => {
  const registry = new Registry()
  const metrics = new ServingMetrics(registry)
  const evicting = { pod: 'a', uid: 'a', reason: 'HealthCheckFailing', message: '' } as const
  const at = (health: object) => ({ observedGeneration: 1, activeVersions: [{ name: 'v1', health }] })
  const gone = at({ evictions: 1, lastEvictionTime: '2026-01-01T00:00:00Z' })
  metrics.noted(at({}), at({ evicting }))
  metrics.noted(at({ evicting }), at({}))
  metrics.noted(at({ evicting }), gone)
  metrics.noted(gone, gone)
  assert.ok((await linesOf(registry)).includes('model_pod_evictions_total{reason="HealthCheckFailing"} 1'))
})

test('each step and each end of a rollout counts once', async () => {
  const registry = new Registry()
  const metrics = new ServingMetrics(registry)
  const at = (phase: 'Progressing' | 'Completed' | 'RolledBack', revision: number, step?: number) => ({
    observedGeneration: 1,
    rollout: { phase, revision, stableRevision: 1, weights: [], ...(step !== undefined && { step }) },
  })
  const states = [at('Completed', 1), at('Progressing', 2, 1), at('Progressing', 2, 1), at('Progressing', 2, 2)]
  const life = [...states, at('RolledBack', 2, 2), at('RolledBack', 2, 2)]
  for (const [index, state] of life.entries()) metrics.noted(life[index - 1], state)
  const counted = (await linesOf(registry)).filter((line) => line.startsWith('model_rollout'))
  assert.deepEqual(counted, [
    'model_rollout_transitions_total{transition="StepStarted"} 2',
    'model_rollout_transitions_total{transition="RolledBack"} 1',
  ])
})

test('gauges show the phase of a model and the traffic and pods of its versions', async () => {
  const registry = new Registry()
  const status = {
    phase: 'Degraded' as const,
    activeVersions: [{ name: 'v1', weight: 90, replicas: 2, healthyReplicas: 1 }, { name: 'v2' }],
  }
  const model: Model = { ...modelDeployment('team-a', 'sentiment'), status }
  addServingGauges({ registry, list: () => [model], isLeading: () => true })
  const labels = 'namespace="team-a",group="ml.example.com",name="sentiment"'
  assert.deepEqual(await linesOf(registry), [
    `model_deployment_phase{${labels},phase="Degraded"} 1`,
    `model_version_weight_percent{${labels},version="v1"} 90`,
    `model_version_replicas{${labels},version="v1"} 2`,
    `model_version_healthy_replicas{${labels},version="v1"} 1`,
    'model_deployment_objects_omitted 0',
  ])
})
