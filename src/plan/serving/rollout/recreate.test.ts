/** Lives of rollouts that remove the old versions before the new ones start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCondition } from '../../../api/conditions.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { ABORT_ANNOTATION } from '../../../api/serving-rollout.ts'
import { fits } from '../../../api/validity.ts'
import { analysis, phase, result, served, two, until, weights } from '../../../../test/sim/rollout-cluster.ts'
import { type ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'

const recreate = { strategy: 'recreate' }
const names = ({ servers }: ServingCluster): string[] => [...servers.keys()].toSorted()
const template = ({ servers }: ServingCluster, name: string): string =>
  JSON.stringify(servers.get(name)?.spec?.template)

test('the old version is gone before the new one starts, and the status says that nothing answers', () => {
  const cluster = served(recreate)
  cluster.edit(two)
  cluster.pass()
  assert.deepEqual(names(cluster), ['v1'], 'recorded, and nothing else')
  cluster.pass()
  assert.deepEqual(names(cluster), ['v1'])
  assert.notEqual(cluster.servers.get('v1')?.metadata.deletionTimestamp, undefined, 'its pods are ending')
  cluster.pass()
  const { rollout, conditions } = cluster.model.status ?? {}
  assert.equal(rollout?.reason, 'Recreating')
  assert.match(rollout.message ?? '', /removing v1 before v2 starts; until then the model does not answer/)
  assert.equal(getCondition(conditions, 'Ready')?.reason, 'Recreating')
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
  assert.ok(calm(cluster, 60))
  assert.deepEqual(names(cluster), ['v2'])
  assert.equal(weights(cluster), 'v2:100')
  assert.deepEqual(result(cluster), ['1 Completed', '2 Completed'])
})

test('a version that stays takes over first, so that the model answers all the time', () => {
  const cluster = served(recreate, { versions: [version('v1', 50), version('v2', 50)] })
  cluster.edit({ versions: [version('v1', 50), version('v3', 50)] })
  until(cluster, () => !cluster.servers.has('v2'))
  assert.ok(!cluster.servers.has('v3'), 'not before')
  assert.match(weights(cluster), /v1:100/)
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v1:50 v3:50')
})

test('a version that fails is removed, and the old revision is restored exactly', () => {
  const cluster = served({ ...recreate, analysis }, { traffic: { provider: 'router', drainSeconds: 5 } })
  const before = template(cluster, 'v1')
  cluster.behaviours.set('v2', { errors: 20, latencyMs: 10 })
  cluster.edit({ ...two, image: 'iris:2' })
  until(cluster, () => phase(cluster) === 'RolledBack')
  assert.deepEqual(names(cluster), ['v2'])
  cluster.pass()
  cluster.control()
  assert.deepEqual(names(cluster), ['v1'], 'v2 does not keep the GPUs that v1 needs')
  assert.ok(calm(cluster, 60))
  assert.equal(template(cluster, 'v1'), before)
  assert.equal(weights(cluster), 'v1:100')
  assert.deepEqual(result(cluster), ['1 Completed', '2 RolledBack'])
})

test('it goes back when it is aborted while the old version is being removed', () => {
  const cluster = served(recreate)
  cluster.edit(two)
  cluster.pass()
  cluster.pass()
  cluster.note({ [ABORT_ANNOTATION]: '2' })
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Aborted')
  assert.equal(weights(cluster), 'v1:100')
})

test('a pause leaves the old version, or has it back', () => {
  const cluster = served(recreate)
  cluster.edit({ ...two, paused: true })
  assert.ok(calm(cluster, 60))
  assert.deepEqual(names(cluster), ['v1'])
  assert.equal(weights(cluster), 'v2:0 v1:100')
  cluster.edit({ paused: false })
  cluster.pass()
  cluster.pass()
  cluster.edit({ paused: true })
  assert.ok(calm(cluster, 60))
  assert.deepEqual(names(cluster), ['v1'])
  cluster.edit({ paused: false })
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v2:100')
})

test('another strategy in time keeps the old version', () => {
  const cluster = served(recreate)
  cluster.edit(two)
  cluster.pass()
  assert.equal(cluster.model.status?.rollout?.strategy, 'recreate')
  cluster.edit({ rollout: { strategy: 'blueGreen', blueGreen: { pause: true } } })
  cluster.pass()
  assert.equal(cluster.servers.get('v1')?.metadata.deletionTimestamp, undefined)
  assert.ok(calm(cluster, 60))
  assert.deepEqual(names(cluster), ['v1', 'v2'])
  assert.match(weights(cluster), /v1:100/)
})

test('rollbackTo removes the present version first, too', () => {
  const cluster = served(recreate)
  cluster.edit(two)
  assert.ok(calm(cluster, 60))
  cluster.edit({ rollbackTo: { revision: 1 } })
  until(cluster, () => !cluster.servers.has('v2'))
  assert.ok(!cluster.servers.has('v1'))
  assert.ok(calm(cluster, 60))
  assert.equal(weights(cluster), 'v1:100')
})
