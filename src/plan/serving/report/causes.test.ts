/** The cause itself is reported, at once and once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServingCluster, version } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { fetchFailureText } from '../../../api/fetch-failure.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../model-names.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'

const cluster = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const found = cluster(spec)
  assert.ok(calm(found, 40))
  return found
}

const pod = (role: string, status: object, labels: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'iris-x', uid: 'x', labels: { [VERSION_LABEL]: 'v1', [ROLE_LABEL]: role, ...labels } },
  status,
})

const conditionOf = ({ status }: ReturnType<typeof planServing>, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted)
const next = (observed: ServingObserved, plan: ReturnType<typeof planServing>): ServingObserved =>
  ({ ...observed, model: { ...observed.model, status: plan.status } }) as ServingObserved
const warnings = ({ events }: ReturnType<typeof planServing>): string[] =>
  events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason)

test('reports a model that cannot be fetched while its validation runs', () => {
  const validated = cluster({ validation: { script: 'validate.py', timeoutSeconds: 60 } })
  validated.pass()
  const [job] = validated.of<Job>('Job')
  const message = fetchFailureText({ reason: 'ArtifactNotFound', message: 'no key m' })
  const fetch = { name: 'model-fetch', restartCount: 0, state: { terminated: { exitCode: 1, message } } }
  const failing = pod('validation', { initContainerStatuses: [fetch] }, { 'job-name': job?.metadata.name })
  const observed = { ...validated.observed, pods: [failing] }
  const plan = planServing(observed)
  assert.equal(plan.status?.phase, 'Pending')
  assert.equal(plan.status.activeVersions?.[0]?.reason, 'ArtifactNotFound')
  assert.match(plan.status.message ?? '', /^v1: iris-x: no key m/)
  assert.equal(conditionOf(plan, 'Progressing')?.status, 'True', 'the Job tries again')
  assert.deepEqual(warnings(plan), ['ArtifactNotFound'])
  const again = planServing(next(observed, plan))
  assert.deepEqual(again.events, [])
  const running = { name: 'validate', state: { running: {} } }
  const retry = pod('validation', { containerStatuses: [running] }, { 'job-name': job?.metadata.name })
  const later = planServing({ ...next(observed, plan), pods: [failing, retry] })
  assert.equal(later.status?.activeVersions?.[0]?.reason, 'Validating')
  assert.deepEqual(later.events, [], 'the validation has not started anew')
})

test('an unschedulable version is Pending, with the message of the scheduler', () => {
  const starting = cluster()
  starting.pass()
  const said = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/3 nodes: Insufficient cpu',
  }
  const plan = planServing({ ...starting.observed, pods: [pod('server', { conditions: [said] })] })
  assert.equal(plan.status?.phase, 'Pending')
  const progress = conditionOf(plan, 'Progressing')
  assert.deepEqual([progress?.status, progress?.reason], ['True', 'InsufficientResources'])
  assert.match(plan.status.message ?? '', /0\/3 nodes: Insufficient cpu/)
})

test('reports a lost router instead of a version', () => {
  const routed = settled({ versions: [version('v1', 90), version('v2', 10)], traffic: { provider: 'router' } })
  routed.routers = []
  const crashed = { name: 'server', restartCount: 1, lastState: { terminated: { exitCode: 1 } } }
  const plan = planServing({ ...routed.observed, pods: [pod('server', { containerStatuses: [crashed] })] })
  assert.equal(conditionOf(plan, 'Ready')?.reason, 'RouteNotInEffect')
  assert.match(plan.status?.message ?? '', /^router /)
})

test('one event for a crash, and none for the recovery', () => {
  const running = settled()
  const down = running.observed.deployments.map((one) => ({ ...one, status: { ...one.status, availableReplicas: 0 } }))
  const server = { name: 'server', restartCount: 1, lastState: { terminated: { exitCode: 1 } } }
  const observed = { ...running.observed, deployments: down, pods: [pod('server', { containerStatuses: [server] })] }
  const crash = planServing(observed)
  assert.deepEqual(
    crash.events.map(({ reason }) => reason),
    ['CrashLoopBackOff'],
  )
  const ready = { conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [server] }
  const back = planServing({ ...next(running.observed, crash), pods: [pod('server', ready)] })
  assert.equal(conditionOf(back, 'Ready')?.status, 'True')
  assert.deepEqual(back.events, [])
})
