/** Lives of rollouts that switch all traffic at once. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION } from '../../../api/serving-rollout.ts'
import { fits } from '../../../api/validity.ts'
import type { Service } from '../../../kube/resources.ts'
import {
  analysis,
  isAt,
  one,
  phase,
  result,
  served,
  two,
  until,
  weights,
} from '../../../../test/sim/rollout-cluster.ts'
import { type ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { VERSION_LABEL } from '../../model-names.ts'

const blueGreen = { pause: true, keepSeconds: 60 }
const atGate = ({ model }: ServingCluster): boolean => model.status?.rollout?.reason === 'StepPaused'
const isKept = ({ model }: ServingCluster): boolean => model.status?.rollout?.reason === 'OldVersionsKept'

/** The version that the preview Service leads to. */
function previewed({ objects }: ServingCluster): string | undefined {
  const service: Service | undefined = objects.get('Service/iris-preview')
  return service?.spec?.selector?.[VERSION_LABEL]
}

test('the first deployment skips the preview', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen })
  assert.equal(phase(cluster), 'Completed')
  assert.equal(previewed(cluster), undefined)
})

test('a new version is previewed, switched to at once when it is promoted, and the old one is kept for a while', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen }, { scaling: { minReplicas: 2, maxReplicas: 2 } })
  cluster.edit(two)
  until(cluster, atGate)
  assert.equal(weights(cluster), 'v2:0 v1:100')
  assert.equal(previewed(cluster), 'v2')
  assert.match(cluster.model.status?.message ?? '', /preview at Service iris-preview, .*promote=2\/1$/)
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
  const seen = new Set<string>()
  cluster.note({ [PROMOTE_ANNOTATION]: '2/1' })
  until(cluster, (now) => {
    seen.add(weights(now))
    return isKept(now)
  })
  assert.deepEqual([...seen], ['v2:0 v1:100', 'v2:100 v1:0'], 'nothing in between')
  assert.equal(cluster.servers.get('v1')?.spec?.replicas, 2, 'kept with all its pods')
  assert.match(cluster.model.status?.rollout?.message ?? '', /keeping v1 until/)
  assert.ok(calm(cluster, 120))
  assert.deepEqual([...cluster.servers.keys()], ['v2'])
  assert.equal(previewed(cluster), undefined)
  assert.deepEqual(result(cluster), ['1 Completed', '2 Completed'])
})

test('without blueGreen settings it switches by itself, and keeps the old version for five minutes', () => {
  const cluster = served({ strategy: 'blueGreen' })
  cluster.edit(two)
  until(cluster, isKept)
  const { inEffectSince = '', message = '' } = cluster.model.status?.rollout ?? {}
  const end = new Date(Date.parse(inEffectSince) + 300_000).toISOString().slice(0, 19)
  assert.match(message, new RegExp(`keeping v1 until ${end}`))
})

test('the switch waits until every pod of the new version is ready', () => {
  const cluster = served({ strategy: 'blueGreen' }, { scaling: { minReplicas: 3, maxReplicas: 3 } })
  cluster.edit(two)
  cluster.pass()
  for (let pass = 0; pass < 5; pass += 1) {
    cluster.control()
    cluster.change('v2', () => 2)
    cluster.report('v2')
    for (const router of cluster.routers) cluster.steer(router)
    cluster.pass()
    cluster.now += 1000
  }
  assert.equal(cluster.model.status?.rollout?.stepWeight, 0)
  assert.match(cluster.model.status.rollout.message ?? '', /waiting for v2 to be ready with all pods/)
  cluster.note({ [PROMOTE_ANNOTATION]: '2' })
  cluster.pass()
  assert.equal(cluster.model.status.rollout.stepWeight, 0, 'also if it is promoted by hand')
  until(cluster, isAt(2))
})

test('a new version that loses a pod at the gate has to be complete again', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen }, { scaling: { minReplicas: 2, maxReplicas: 2 } })
  cluster.edit(two)
  until(cluster, atGate)
  cluster.change('v2', () => 1)
  cluster.report('v2')
  cluster.pass()
  assert.match(cluster.model.status?.rollout?.message ?? '', /v2 has lost a pod/)
  assert.equal(phase(cluster), 'Progressing')
  until(cluster, atGate)
})

describe('traffic returns at once to the version that was kept', () => {
  test('when the analysis fails after the switch, relative to what the old version answered before it', () => {
    const cluster = served({ strategy: 'blueGreen', analysis: { ...analysis, watchSeconds: 60 } })
    cluster.behaviours.set('v2', { errors: 0, latencyMs: 30 })
    cluster.edit(two)
    until(cluster, () => phase(cluster) === 'RolledBack')
    assert.match(cluster.model.status?.rollout?.message ?? '', /latencyMs of v2 is 30 ms, above 20 ms/)
    assert.ok(calm(cluster, 60))
    assert.equal(weights(cluster), 'v1:100')
    assert.deepEqual([...cluster.servers.keys()], ['v1'])
  })

  test('when it is aborted while the old version is kept', () => {
    const cluster = served({ strategy: 'blueGreen', blueGreen: { keepSeconds: 600 } })
    cluster.edit(two)
    until(cluster, isKept)
    cluster.note({ [ABORT_ANNOTATION]: '2' })
    cluster.pass()
    cluster.pass()
    assert.equal(weights(cluster), 'v1:100 v2:0')
    assert.equal(phase(cluster), 'Aborted')
  })

  test('when rollbackTo asks for it', () => {
    const cluster = served({ strategy: 'blueGreen', blueGreen: { keepSeconds: 600 } })
    cluster.edit(two)
    until(cluster, isKept)
    cluster.edit({ rollbackTo: { revision: 1 } })
    until(cluster, () => phase(cluster) === 'Completed')
    assert.deepEqual([...cluster.servers.keys()].includes('v1'), true)
    assert.ok(calm(cluster, 60))
    assert.equal(weights(cluster), 'v1:100')
  })
})

test('nothing is judged any more after the watch time, however long the old version is kept', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen: { keepSeconds: 600 }, analysis })
  cluster.edit(two)
  until(cluster, isKept)
  cluster.behaviours.set('v2', { errors: 50, latencyMs: 10 })
  assert.ok(calm(cluster, 200))
  assert.equal(phase(cluster), 'Completed')
})

test('a change while the old version is only kept goes back to the new one, not to the old one', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen })
  cluster.edit(two)
  cluster.note({ [PROMOTE_ANNOTATION]: '2' })
  until(cluster, isKept)
  cluster.edit({ versions: [version('v3', 100)] })
  until(cluster, atGate)
  assert.match(weights(cluster), /v2:100/)
  assert.equal(cluster.model.status?.rollout?.stableRevision, 2)
  assert.deepEqual(result(cluster), ['1 Completed', '2 Completed', '3 Progressing'])
})

test('a change during the preview starts another one, and traffic stays', () => {
  const cluster = served({ strategy: 'blueGreen', blueGreen })
  cluster.edit(two)
  until(cluster, atGate)
  cluster.edit({ versions: [version('v3', 100)] })
  until(cluster, ({ model }) => model.status?.rollout?.revision === 3 && atGate(cluster))
  assert.equal(previewed(cluster), 'v3')
  assert.match(weights(cluster), /v1:100/)
  cluster.edit(one)
  assert.ok(calm(cluster, 120))
  assert.equal(weights(cluster), 'v1:100')
  assert.deepEqual(result(cluster), ['1 Completed', '2 Superseded', '3 Superseded', '4 Completed'])
})

test('a version that is not ready in time is rolled back before it got any traffic', () => {
  const cluster = served({ strategy: 'blueGreen', progressDeadlineSeconds: 60 })
  cluster.edit(two)
  for (let pass = 0; pass < 10; pass += 1) {
    cluster.control()
    cluster.pass()
    cluster.now += 20_000
  }
  assert.equal(phase(cluster), 'RolledBack')
  assert.match(cluster.model.status?.rollout?.message ?? '', /waited 60 s .* for v2 to be ready with all pods/)
})
