/** A new version whose pods are sick is rolled back, whatever its requests look like. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { analysis, one, phase, steps, two, weights } from '../../../../test/sim/rollout-cluster.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { podOf } from '../../../../test/sim/sick-pods.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'

/** The pods of v2 fail their health check. */
function withSickPods(observed: ServingObserved): ServingObserved {
  const pod = podOf({ name: 'sick', version: 'v2' })
  const health = { path: '/health', failures: 3, misses: 0, hasPassed: true, answer: 'answered HTTP 500' }
  return { ...observed, pods: [...observed.pods, pod], health: new Map([['uid-sick', health]]) }
}

const rollouts: readonly (readonly [string, object])[] = [
  ['with an analysis', { steps, analysis }],
  ['without an analysis', { steps }],
]

for (const [what, rollout] of rollouts)
  test(`a version with sick pods is rolled back ${what}`, () => {
    const plan = (observed: ServingObserved) => planServing(withSickPods(observed))
    const cluster = new ServingCluster(plan, () => undefined, { spec: { ...one, rollout } })
    assert.ok(calm(cluster, 60))
    assert.equal(phase(cluster), 'Completed')
    cluster.edit(two)
    calm(cluster, 120)
    assert.deepEqual([phase(cluster), weights(cluster).startsWith('v1:100')], ['RolledBack', true])
    const { reason, message } = cluster.model.status?.rollout ?? {}
    assert.equal(reason, 'AnalysisFailed')
    assert.match(message ?? '', /only 0 % of the pods of v2 are healthy, below 80 %$/)
  })
