/** Jobs as metrics: once for each step, recorded before anything follows from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAt, phase, served, two, until, weights } from '../../../../test/sim/rollout-cluster.ts'
import { type ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { modelDeploymentV1 } from '../../../api/modeldeployment.v1.ts'
import { PROMOTE_ANNOTATION } from '../../../api/serving-rollout.ts'
import { fits } from '../../../api/validity.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { planServing } from '../plan.ts'

const accuracy = { name: 'accuracy', job: { image: 'eval:1', command: ['evaluate'], timeoutSeconds: 60 } }
const judged = { metrics: [accuracy], watchSeconds: 0 }
const canary = { steps: [{ weight: 10 }], analysis: judged }

const jobsOf = (cluster: ServingCluster): Job[] => cluster.of<Job>('Job')
const created = (cluster: ServingCluster): string[] =>
  cluster.writes.flatMap((write) =>
    write.verb === 'apply' && write.object.kind === 'Job' && !write.before ? [write.object.metadata.name] : [],
  )
const resultsOf = (cluster: ServingCluster) =>
  cluster.model.status?.rollout?.jobs?.map(({ metric, version, result }) => `${metric} ${version} ${result}`)

/** At the first step, with its Job. */
function running(rollout: object = canary): ServingCluster {
  const cluster = served(rollout, { traffic: { provider: 'router' } })
  cluster.edit(two)
  until(cluster, isAt(1))
  if (jobsOf(cluster).length === 0) cluster.pass()
  assert.equal(jobsOf(cluster).length, 1)
  return cluster
}

/** The pod of the Job, as it ended. */
function ended(cluster: ServingCluster, exitCode: number, message: string): Pod {
  const [job] = jobsOf(cluster)
  const containerStatuses = [{ name: 'analyse', restartCount: 0, state: { terminated: { exitCode, message } } }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'x', uid: 'x', labels: { 'job-name': job?.metadata.name ?? '' } },
    status: { containerStatuses },
  } as unknown as Pod
}

test('the Job of a step has a name of that step, is restricted, has no token, and knows what it judges', () => {
  const cluster = running()
  const [job] = jobsOf(cluster)
  assert.ok(job?.spec?.template.spec)
  assert.match(job.metadata.name, /^iris-v2-r2-s1-[0-9a-f]{8}$/)
  const { template, activeDeadlineSeconds } = job.spec
  const { automountServiceAccountToken, securityContext, containers = [] } = template.spec ?? {}
  assert.deepEqual([activeDeadlineSeconds, automountServiceAccountToken], [60, false])
  assert.equal(securityContext?.runAsNonRoot, true)
  assert.deepEqual(
    containers.map((one) => one.securityContext?.allowPrivilegeEscalation),
    [false],
  )
  assert.deepEqual(
    containers[0]?.env?.map(({ name, value }) => `${name}=${value}`),
    [
      'MODEL_NAME=iris',
      'MODEL_VERSION=v2',
      'MODEL_URL=http://iris-v2.team-a.svc:8080',
      'MODEL_WEIGHT=10',
      'ROLLOUT_REVISION=2',
      'ROLLOUT_STEP=1',
      'NVIDIA_VISIBLE_DEVICES=void',
    ],
  )
})

test('each step waits for its own Job, without any request, and Jobs are gone after the rollout', () => {
  const cluster = running()
  cluster.pass()
  assert.match(cluster.model.status?.rollout?.message ?? '', /^Step 1 of 2 \(10 %\): waiting for Job iris-v2-r2-s1-/)
  assert.equal(weights(cluster), 'v2:10 v1:90')
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Completed')
  assert.deepEqual(
    created(cluster).map((name) => name.slice(0, 13)),
    ['iris-v2-r2-s1', 'iris-v2-r2-s2'],
  )
  assert.deepEqual(jobsOf(cluster), [])
})

test('a Job that fails ends the rollout with its last output, and is kept with its logs', () => {
  const cluster = running()
  cluster.judge('Failed')
  const observed = { ...cluster.observed, pods: [...cluster.observed.pods, ended(cluster, 3, 'a\naccuracy 0.91\n')] }
  const { status } = planServing(observed)
  assert.equal(status?.rollout?.phase, 'RolledBack')
  const expected = 'Step 1 of 2 (10 %): the Job of accuracy failed for v2: exit code 3: a | accuracy 0.91'
  assert.equal(status.rollout.message, expected)
  cluster.pass()
  assert.deepEqual([phase(cluster), resultsOf(cluster)], ['RolledBack', ['accuracy v2 Fail']])
  assert.ok(fits(modelDeploymentV1.status, cluster.model.status), JSON.stringify(cluster.model.status))
  assert.ok(calm(cluster, 60))
  assert.equal(jobsOf(cluster).length, 1)
  assert.equal(created(cluster).length, 1)
})

test('a Job without autoRollback stops the rollout, and a promotion by hand goes on', () => {
  const cluster = running({ ...canary, autoRollback: false })
  cluster.judge('Failed')
  cluster.pass()
  assert.deepEqual([phase(cluster), cluster.model.status?.rollout?.reason], ['Paused', 'AnalysisFailed'])
  cluster.note({ [PROMOTE_ANNOTATION]: '2/1' })
  until(cluster, isAt(2))
  cluster.pass()
  assert.equal(created(cluster).length, 2)
})

test('a result that is recorded is not asked for again, although its Job is deleted', () => {
  const cluster = running({ steps: [{ weight: 10, pause: true }], analysis: judged })
  cluster.judge('Complete')
  cluster.pass()
  assert.deepEqual(resultsOf(cluster), ['accuracy v2 Pass'])
  for (const { metadata } of jobsOf(cluster)) cluster.objects.delete(`Job/${metadata.name}`)
  assert.ok(calm(cluster, 20))
  assert.equal(created(cluster).length, 1)
  assert.equal(cluster.model.status?.rollout?.reason, 'StepPaused')
})

test('a Job that was deleted before its result was recorded runs again', () => {
  const cluster = running()
  for (const { metadata } of jobsOf(cluster)) cluster.objects.delete(`Job/${metadata.name}`)
  assert.ok(calm(cluster, 60))
  assert.equal(phase(cluster), 'Completed')
})

test('blue-green is judged before the switch, while the new version has no traffic', () => {
  const cluster = running({ strategy: 'blueGreen', blueGreen: { keepSeconds: 0 }, analysis: judged })
  assert.equal(weights(cluster), 'v2:0 v1:100')
  const variables = jobsOf(cluster)[0]?.spec?.template.spec?.containers[0]?.env
  assert.equal(variables?.find(({ name }) => name === 'MODEL_WEIGHT')?.value, '0')
  cluster.judge('Failed')
  cluster.pass()
  assert.equal(phase(cluster), 'RolledBack')
})

test('while it is paused no Job starts, and what keeps one from starting is said', () => {
  const cluster = served(canary, { traffic: { provider: 'router' } })
  cluster.edit(two)
  until(cluster, isAt(1))
  const before = created(cluster).length
  cluster.edit({ paused: true })
  for (const { metadata } of jobsOf(cluster)) cluster.objects.delete(`Job/${metadata.name}`)
  cluster.pass()
  cluster.pass()
  assert.equal(created(cluster).length, before)
  cluster.edit({ paused: false })
  cluster.pass()
  cluster.pass()
  const waiting = { reason: 'ImagePullBackOff', message: `no such image${' and'.repeat(1000)}` }
  const pod = ended(cluster, 0, '')
  const status = { containerStatuses: [{ name: 'analyse', restartCount: 0, state: { waiting } }] }
  const plan = planServing({ ...cluster.observed, pods: [...cluster.observed.pods, { ...pod, status } as Pod] })
  assert.ok((plan.status?.rollout?.message ?? '').length < 1024, 'it is bounded')
  assert.match(
    plan.status?.rollout?.message ?? '',
    /waiting for Job .* of accuracy \(x: ImagePullBackOff: no such image/,
  )
})
