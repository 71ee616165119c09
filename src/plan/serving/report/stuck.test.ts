/** The status of a model that cannot be written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { getCondition } from '../../../api/conditions.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'
import { planServingRejection } from './stuck.ts'

function settled(): ServingCluster {
  const cluster = new ServingCluster(planServing, () => undefined)
  assert.ok(calm(cluster, 40))
  return cluster
}

const recorded = (observed: ServingObserved, { status }: ReturnType<typeof planServing>): ServingObserved => ({
  ...observed,
  model: { ...observed.model, status } as never,
})

test('reports a rejected write once, whatever request id each rejection carries', () => {
  const { observed } = settled()
  const rejection = (id: string) => ({ reason: 'Refused', message: `denied by policy (request ${id})` })
  const plan = planServingRejection(observed, rejection('0c8f8a60-6a5c-4b5e-9d8e-aaaaaaaaaaaa'))
  assert.equal(plan.events[0]?.reason, 'ReconcileFailed')
  const again = planServingRejection(recorded(observed, plan), rejection('77aa77aa-6a5c-4b5e-9d8e-bbbbbbbbbbbb'))
  assert.deepEqual([again.events, again.status], [[], plan.status])
})

test('a model whose Service is not its own is not Ready and has no URL', () => {
  const { observed } = settled()
  const conflict = { reason: 'Conflict', message: 'Service/iris-service already exists' }
  const services = observed.services.filter(({ metadata }) => metadata.name !== 'iris-service')
  const plan = planServingRejection({ ...observed, services }, conflict)
  const { phase, message, url, conditions } = plan.status ?? {}
  assert.deepEqual([phase, message, url], ['Failed', conflict.message, undefined])
  const ready = getCondition(conditions as never, 'Ready')
  assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['False', 'Conflict', conflict.message])
  assert.equal(getCondition(conditions as never, 'Conflict')?.status, 'True')
  assert.deepEqual(
    plan.events.map(({ reason }) => reason),
    ['Conflict'],
  )
  assert.deepEqual(planServingRejection(recorded({ ...observed, services }, plan), conflict).events, [])
})

test('a model that cannot be written is not Ready once its pods are gone', () => {
  const { observed } = settled()
  const refusal = { reason: 'Refused', message: 'denied by policy' }
  assert.equal(planServingRejection(observed, refusal).status?.phase, 'Degraded')
  const plan = planServingRejection({ ...observed, deployments: [] }, refusal)
  assert.equal(plan.status?.phase, 'Failed')
  assert.equal(getCondition(plan.status?.conditions as never, 'Ready')?.status, 'False')
})
