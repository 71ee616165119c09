/** Each oracle of rollouts is given a history that violates it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import { deployment, httpRoute, model, router, running, violated, type Weights } from '../builders/model-history.ts'

const share = (name: string, weight: number) => ({ name, weight })
const completedRevisions = [{ revision: 1, weights: [share('v1', 100)] }]
const rolledOut = (phase: string, revision: number) => {
  const weights = phase === 'Paused' ? [share('v1', 50), share('v2', 50)] : [share('v1', 100)]
  return {
    observedGeneration: 1,
    history: completedRevisions,
    rollout: { phase, revision, stableRevision: 1, weights },
  }
}

test('S3: a version that failed gets more traffic on the way back', () => {
  const routes: readonly ((weights: Weights) => KubeObject)[] = [router, httpRoute]
  for (const route of routes) {
    const before = () =>
      [
        ['created', model(rolledOut('Paused', 2))],
        ...running('v1', 'v2'),
        ['created', route({ v1: 50, v2: 50 })],
      ] as const
    const then = (v2: number) => ['changed', route({ v1: 100 - v2, v2 })] as const
    const back = () => ['changed', model(rolledOut('RolledBack', 2))] as const
    assert.deepEqual(violated(...before(), back(), then(40)), [])
    assert.deepEqual(violated(...before(), back(), then(60)), ['S3'])
    assert.deepEqual(violated(...before(), then(60)), [], 'not on the way back')
  }
})

test('S6: a rollout goes back to another pod template', () => {
  const existing = () => [['created', model(rolledOut('Completed', 1))], ...running('v1', 'v2')] as const
  const back = () => ['changed', model(rolledOut('RolledBack', 2))] as const
  const withTemplate = (): KubeObject => ({ ...deployment('v1'), spec: { template: { metadata: {} } } }) as KubeObject
  assert.deepEqual(violated(...existing(), back()), [])
  assert.deepEqual(violated(...existing(), back(), ['changed', withTemplate()]), ['S6'])
  assert.deepEqual(violated(...existing(), back(), ['deleted', deployment('v1')]), ['S6'], 'not there at all')
})
