/** What people do with a rollout: promote, abort, pause, retry, and roll back to a revision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCondition } from '../../../api/conditions.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION, RETRY_ANNOTATION } from '../../../api/serving-rollout.ts'
import {
  analysis,
  isAt,
  phase,
  result,
  served,
  steps,
  two,
  until,
  weights,
} from '../../../../test/sim/rollout-cluster.ts'
import { version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'

test('without autoRollback a failed rollout waits for a person, who may promote or abort it', () => {
  for (const [annotation, end] of [
    [PROMOTE_ANNOTATION, 'Completed'],
    [ABORT_ANNOTATION, 'Aborted'],
  ] as const) {
    const cluster = served({ steps, analysis, autoRollback: false })
    cluster.behaviours.set('v2', { errors: 20, latencyMs: 10 })
    cluster.edit(two)
    until(cluster, () => phase(cluster) === 'Paused')
    assert.equal(weights(cluster), 'v2:10 v1:90')
    assert.equal(getCondition(cluster.model.status?.conditions, 'Paused')?.reason, 'AnalysisFailed')
    cluster.note({ [annotation]: '2' })
    cluster.behaviours.clear()
    assert.ok(calm(cluster, 120))
    assert.equal(phase(cluster), end)
  }
})

test('a step with a gate waits until its revision and step are promoted', () => {
  const cluster = served({
    steps: [
      { weight: 10, pause: true },
      { weight: 50, pause: true },
    ],
  })
  cluster.edit(two)
  assert.ok(calm(cluster, 60))
  assert.match(cluster.model.status?.message ?? '', /kubectl annotate md\/iris --overwrite .*promote=2\/1$/)
  cluster.note({ [PROMOTE_ANNOTATION]: '1/9' })
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v2:10 v1:90', 'another revision')
  cluster.note({ [PROMOTE_ANNOTATION]: '2/1' })
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v2:50 v1:50', 'only the first step')
  cluster.note({ [PROMOTE_ANNOTATION]: '2' })
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v2:100')
})

test('a paused rollout stays where it is, and goes on afterwards', () => {
  const cluster = served()
  cluster.edit(two)
  until(cluster, isAt(1))
  cluster.edit({ paused: true })
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Paused')
  assert.equal(weights(cluster), 'v2:10 v1:90')
  cluster.edit({ paused: false })
  assert.ok(calm(cluster, 120))
  assert.equal(phase(cluster), 'Completed')
})

test('a retry of a revision that was rolled back is a new revision, once', () => {
  const cluster = served()
  cluster.behaviours.set('v2', { errors: 20, latencyMs: 10 })
  cluster.edit(two)
  assert.ok(calm(cluster, 120))
  cluster.note({ [RETRY_ANNOTATION]: '2' })
  assert.ok(calm(cluster, 120))
  assert.deepEqual(result(cluster), ['1 Completed', '2 RolledBack', '3 RolledBack'])
  cluster.behaviours.clear()
  cluster.note({ [RETRY_ANNOTATION]: '3' })
  assert.ok(calm(cluster, 120))
  assert.deepEqual(result(cluster), ['1 Completed', '2 RolledBack', '3 RolledBack', '4 Completed'])
  assert.equal(weights(cluster), 'v2:100')
})

test('rollbackTo restores a revision that is no longer in the spec, at once', () => {
  const cluster = served()
  const before = JSON.stringify(cluster.servers.get('v1')?.spec?.template)
  cluster.edit({ ...two, image: 'iris:2' })
  assert.ok(calm(cluster, 120))
  assert.deepEqual([...cluster.servers.keys()], ['v2'])
  cluster.edit({ rollbackTo: { version: 'v1' } })
  assert.ok(calm(cluster, 120))
  assert.deepEqual([...cluster.servers.keys()], ['v1'])
  assert.equal(JSON.stringify(cluster.servers.get('v1')?.spec?.template), before)
  assert.deepEqual(result(cluster), ['1 Completed', '2 Completed', '3 Completed'])
  cluster.edit({ rollbackTo: { revision: 9 } })
  assert.ok(calm(cluster, 60))
  assert.match(cluster.model.status?.message ?? '', /^spec\.rollbackTo\.revision: 9 cannot be restored: choose one of/)
  assert.equal(weights(cluster), 'v1:100', 'nothing changes')
  cluster.edit({ rollbackTo: undefined })
  assert.ok(calm(cluster, 120))
  assert.equal(weights(cluster), 'v2:100')
})

test('another number of pods is no revision, and is kept for a return', () => {
  const cluster = served()
  cluster.edit({ scaling: { minReplicas: 3, maxReplicas: 3 } })
  assert.ok(calm(cluster, 60))
  assert.deepEqual(result(cluster), ['1 Completed'])
  cluster.edit({ ...two, scaling: { minReplicas: 1, maxReplicas: 1 } })
  until(cluster, isAt(2))
  assert.equal(cluster.servers.get('v1')?.spec?.replicas, 3, 'of the version that the spec no longer has')
  cluster.edit({ versions: [version('v1', 0), version('v2', 100)], scaling: { minReplicas: 4, maxReplicas: 4 } })
  until(cluster, isAt(1))
  cluster.edit({ ...two, scaling: { minReplicas: 2, maxReplicas: 2 } })
  until(cluster, isAt(1))
  assert.equal(cluster.servers.get('v1')?.spec?.replicas, 4, 'as the spec said last')
})

test('the history keeps the newest revisions, and always the stable one', () => {
  const cluster = served({}, { historyLimit: 3 })
  for (const name of ['v2', 'v3', 'v4', 'v5', 'v6']) {
    cluster.edit({ versions: [version(name, 100)] })
    assert.ok(calm(cluster, 80))
  }
  assert.deepEqual(result(cluster), ['4 Completed', '5 Completed', '6 Completed'])
})
