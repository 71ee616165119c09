/** Lives of single rollouts, step by step, against the simulated cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getCondition } from '../../../api/conditions.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { ROUTE_ANNOTATION } from '../../../api/router-report.ts'
import { ABORT_ANNOTATION } from '../../../api/serving-rollout.ts'
import { fits } from '../../../api/validity.ts'
import {
  analysis,
  isAt,
  one,
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

test('the first deployment skips the steps', () => {
  const cluster = served()
  assert.equal(phase(cluster), 'Completed')
  assert.equal(weights(cluster), 'v1:100')
  assert.ok(!cluster.events.includes('StepStarted'))
  assert.deepEqual(result(cluster), ['1 Completed'])
})

test('a good version is promoted step by step, and watched before the old one goes', () => {
  const cluster = served()
  cluster.edit(two)
  until(cluster, isAt(1))
  assert.equal(weights(cluster), 'v2:10 v1:90')
  assert.equal(cluster.model.status?.rollout?.candidate, 'v2')
  assert.equal(getCondition(cluster.model.status.conditions, 'Progressing')?.reason, 'RolloutProgressing')
  until(cluster, isAt(2))
  assert.equal(weights(cluster), 'v2:50 v1:50')
  until(cluster, isAt(3))
  assert.equal(weights(cluster), 'v2:100 v1:0')
  until(cluster, () => phase(cluster) === 'Watching')
  assert.ok(cluster.servers.has('v1'), 'kept while it is watched')
  assert.ok(calm(cluster, 120))
  assert.deepEqual([...cluster.servers.keys()], ['v2'])
  assert.deepEqual(result(cluster), ['1 Completed', '2 Completed'])
  const reasons = cluster.events.filter((reason) => /Step|Promoted|Rollout/.test(reason))
  const step = ['StepStarted', 'StepPassed']
  assert.deepEqual(reasons, [...step, ...step, 'StepStarted', 'Promoted', 'StepPassed', 'RolloutCompleted'])
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
})

describe('a version is rolled back', () => {
  test('that fails 20 % of its requests', () => {
    const cluster = served()
    cluster.behaviours.set('v2', { errors: 20, latencyMs: 10 })
    cluster.edit(two)
    assert.ok(calm(cluster, 120))
    const { rollout, conditions } = cluster.model.status ?? {}
    assert.equal(rollout?.phase, 'RolledBack')
    assert.deepEqual(
      [rollout.analysis?.metric, rollout.analysis?.value, rollout.analysis?.threshold],
      ['errorRate', 20, 5],
    )
    assert.equal(rollout.message, 'Step 1 of 3 (10 %): errorRate of v2 is 20 %, above 5 %')
    assert.equal(getCondition(conditions, 'RolledBack')?.status, 'True')
    assert.equal(getCondition(conditions, 'CanaryHealthy')?.status, 'False')
    assert.equal(weights(cluster), 'v1:100')
    assert.deepEqual([...cluster.servers.keys()], ['v1'], 'the failed version is removed after its traffic')
    assert.deepEqual(result(cluster), ['1 Completed', '2 RolledBack'])
    assert.ok(cluster.events.includes('RolledBack'))
    assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
  })

  test('that is three times slower than the stable one', () => {
    const cluster = served()
    cluster.behaviours.set('v2', { errors: 0, latencyMs: 30 })
    cluster.edit(two)
    assert.ok(calm(cluster, 120))
    assert.match(cluster.model.status?.rollout?.message ?? '', /latencyMs of v2 is 30 ms, above 20 ms/)
  })

  test('that turns bad after its promotion, even relative to a version without traffic', () => {
    const cluster = served()
    cluster.edit(two)
    until(cluster, isAt(3))
    cluster.behaviours.set('v2', { errors: 0, latencyMs: 30 })
    assert.ok(calm(cluster, 120))
    assert.equal(phase(cluster), 'RolledBack')
    assert.equal(weights(cluster), 'v1:100')
  })

  test('only after failureLimit failed intervals', () => {
    const cluster = served({ steps, analysis: { ...analysis, failureLimit: 3 } })
    cluster.behaviours.set('v2', { errors: 50, latencyMs: 10 })
    cluster.edit(two)
    until(cluster, ({ model }) => model.status?.rollout?.analysis?.failures === 2)
    assert.equal(phase(cluster), 'Progressing')
    until(cluster, () => phase(cluster) === 'RolledBack')
    assert.match(cluster.model.status?.rollout?.message ?? '', /3 times/)
  })

  test('with the exact template of before, although the spec has changed it', () => {
    const cluster = served()
    const before = JSON.stringify(cluster.servers.get('v1')?.spec?.template)
    cluster.behaviours.set('v2', { errors: 20, latencyMs: 10 })
    cluster.edit({ image: 'iris:9', versions: [version('v1', 0), version('v2', 100)] })
    assert.ok(calm(cluster, 120))
    assert.equal(phase(cluster), 'RolledBack')
    assert.equal(JSON.stringify(cluster.servers.get('v1')?.spec?.template), before)
  })
})

test('with too few requests the rollout waits, and says so once', () => {
  const cluster = served({ steps, analysis: { ...analysis, minRequests: 1_000_000 } })
  cluster.edit(two)
  assert.ok(calm(cluster, 60), 'at rest')
  assert.equal(cluster.model.status?.rollout?.reason, 'TooFewRequests')
  assert.match(cluster.model.status.rollout.message ?? '', /v2 has fewer than 1000000 \(minRequests\) since/)
  assert.equal(weights(cluster), 'v2:10 v1:90')
})

test('a change on the way starts from where traffic is, and keeps what to go back to', () => {
  const cluster = served()
  cluster.edit({ versions: [version('v1', 0), version('v2', 100)] })
  until(cluster, isAt(2))
  cluster.edit({ versions: [version('v1', 0), version('v2', 0), version('v3', 100)] })
  until(cluster, isAt(1))
  assert.deepEqual(cluster.model.status?.rollout?.from, [
    { name: 'v1', weight: 50 },
    { name: 'v2', weight: 50 },
  ])
  assert.equal(weights(cluster), 'v1:45 v2:45 v3:10')
  cluster.behaviours.set('v3', { errors: 50, latencyMs: 10 })
  assert.ok(calm(cluster, 120))
  assert.equal(weights(cluster), 'v1:100')
  assert.deepEqual(result(cluster), ['1 Completed', '2 Superseded', '3 RolledBack'])
})

test('a return to the stable spec skips the steps', () => {
  const cluster = served()
  cluster.edit(two)
  until(cluster, isAt(1))
  cluster.edit(one)
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Completed')
  assert.equal(weights(cluster), 'v1:100')
})

test('a rollout whose stable version is not ready halts, and goes back once it is', () => {
  const cluster = served()
  cluster.edit(two)
  until(cluster, isAt(1))
  cluster.note({ [ABORT_ANNOTATION]: '2' })
  cluster.change('v1', () => 0)
  cluster.report('v1')
  cluster.pass()
  assert.equal(phase(cluster), 'Halted')
  assert.match(cluster.model.status?.message ?? '', /v1 is not ready/)
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Aborted')
  assert.equal(weights(cluster), 'v1:100')
})

test('on the way back a failed version does not take over from a stable one that is lost', () => {
  const cluster = served()
  cluster.edit(two)
  until(cluster, isAt(1))
  cluster.note({ [ABORT_ANNOTATION]: '2' })
  cluster.pass()
  assert.equal(phase(cluster), 'Aborted')
  cluster.change('v1', () => 0)
  cluster.report('v1')
  cluster.pass()
  const routes = cluster.routers.map(({ pod }) => pod.metadata.annotations?.[ROUTE_ANNOTATION] ?? '')
  for (const route of routes) assert.match(route, /"version":"v2",[^}]*"weight":10/)
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v1:100')
})

test('a version that is not ready in time is rolled back', () => {
  const cluster = served({ steps, progressDeadlineSeconds: 60 })
  cluster.edit(two)
  for (let pass = 0; pass < 10; pass += 1) {
    cluster.control()
    cluster.pass()
    cluster.now += 20_000
  }
  assert.equal(phase(cluster), 'RolledBack')
  assert.match(
    cluster.model.status?.rollout?.message ?? '',
    /waited 60 s \(progressDeadlineSeconds\) for v2 to be ready/,
  )
})
