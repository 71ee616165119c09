/** What keeps a version from being ready is reported, at once and once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToWrite } from '../../../../test/builders/plans.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { fetchFailureText } from '../../../api/fetch-failure.ts'
import type { Deployment, Pod } from '../../../kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../model-names.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'

const start = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const cluster = start(spec)
  assert.ok(calm(cluster, 40))
  return cluster
}

test('an autoscaler without metrics is reported', () => {
  const cluster = settled({ scaling: { minReplicas: 1, maxReplicas: 4 } })
  const key = 'HorizontalPodAutoscaler/iris-hpa'
  const says = (status: string): object => {
    const condition = {
      type: 'ScalingActive',
      status,
      reason: 'FailedGetResourceMetric',
      message: 'no metrics for cpu',
    }
    cluster.objects.set(key, { ...cluster.objects.get(key), status: { conditions: [condition] } } as never)
    cluster.pass()
    const {
      status: is,
      reason,
      message,
    } = cluster.model.status?.conditions?.find(({ type }) => type === 'Scaled') ?? {}
    return { is, reason, message }
  }
  assert.deepEqual(says('False'), {
    is: 'False',
    reason: 'AutoscalerInactive',
    message: 'v1: the autoscaler iris-hpa does not scale: FailedGetResourceMetric: no metrics for cpu',
  })
  assert.equal(cluster.model.status?.phase, 'Running')
  assert.deepEqual(says('True'), {
    is: 'True',
    reason: 'EnoughPods',
    message: 'Every version has enough pods',
  })
})

/** What the planner sees of a model whose only pod is in this state. */
function withPod(status: object, cluster = start()): ServingObserved {
  cluster.pass()
  cluster.control()
  cluster.report('v1')
  const labels = { [MODEL_UID_LABEL]: 'uid-of-model', [VERSION_LABEL]: 'v1', [ROLE_LABEL]: 'server' }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'iris-x', uid: 'x', labels }, status } as Pod
  return { ...cluster.observed, pods: [pod] }
}

const waiting = (reason: string, message = '') => ({
  containerStatuses: [{ name: 'server', restartCount: 0, state: { waiting: { reason, message } } }],
})
const fetched = (message: string) => ({
  initContainerStatuses: [
    { name: 'model-fetch', restartCount: 1, lastState: { terminated: { exitCode: 1, message } } },
  ],
})
const unscheduled = (message: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})
const crashed = (reason: string, exitCode: number, message = '') => ({
  containerStatuses: [{ name: 'server', restartCount: 3, lastState: { terminated: { exitCode, reason, message } } }],
})

const sidecar = {
  containerStatuses: [
    { name: 'server', restartCount: 0, state: { running: {} } },
    {
      name: 'side',
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 2 } },
    },
  ],
}

const troubles: readonly [string, object, RegExp][] = [
  ['ImagePullFailed', waiting('ImagePullBackOff', 'no such image'), /no such image; check image/],
  [
    'ImagePullFailed',
    waiting('ErrImagePull', 'failed to pull image "localhost/fastapi-pytorch:dev": refused'),
    /; localhost\/fastapi-pytorch:dev is not in a registry: load it on every node, or set image to an image that/,
  ],
  ['ArtifactNotFound', fetched(fetchFailureText({ reason: 'ArtifactNotFound', message: 'no key m' })), /no key m/],
  ['AccessDenied', fetched(fetchFailureText({ reason: 'AccessDenied', message: 'not yours' })), /not yours/],
  ['FetchFailed', fetched('killed'), /kubectl logs iris-x -c model-fetch/],
  ['OutOfMemory', crashed('OOMKilled', 137), /raise resources.limits.memory/],
  ['CrashLoopBackOff', crashed('Error', 1), /exit code 1 .*--previous$/],
  ['CrashLoopBackOff', crashed('Error', 1, 'loading\nno such model\n'), /exit code 1 .*--previous; .*: no such model$/],
  ['CrashLoopBackOff', sidecar, /container side of podTemplate terminated with exit code 2 .*-c side --previous$/],
  ['InsufficientGPU', unscheduled('0/3 nodes: 3 Insufficient nvidia.com/gpu'), /Insufficient nvidia/],
  ['InsufficientResources', unscheduled('0/3 nodes: 3 Insufficient cpu'), /is unschedulable/],
]

for (const [reason, status, message] of troubles) {
  test(`reports ${reason}`, () => {
    const observed = withPod(status)
    const plan = planServing(observed)
    assert.equal(plan.status?.phase, reason.startsWith('Insufficient') ? 'Pending' : 'Failed')
    assert.equal(plan.status.activeVersions?.[0]?.reason, reason)
    assert.match(plan.status.message ?? '', message)
    const ready = plan.status.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['False', reason])
    const warnings = plan.events.filter(({ type }) => type === 'Warning').map((event) => event.reason)
    assert.deepEqual(warnings, [reason], 'one event for one cause')
    const again = planServing({ ...observed, model: { ...observed.model, status: plan.status } as never })
    assert.deepEqual(again.events, [], 'said once')
  })
}

test('reports a quota that rejects pods', () => {
  const cluster = start()
  cluster.pass()
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods=5' }]
  const deployment = cluster.servers.get('v1')
  const observed = { ...cluster.observed, deployments: [{ ...deployment, status: { conditions } } as Deployment] }
  assert.equal(planServing(observed).status?.activeVersions?.[0]?.reason, 'QuotaExceeded')
})

test('without a spare GPU new pods replace old ones, and the status reports it', () => {
  const cluster = start({ resources: { limits: { 'nvidia.com/gpu': 1 } } })
  const observed = withPod(unscheduled('0/3 nodes: 3 Insufficient nvidia.com/gpu'), cluster)
  const rolling = observed.deployments.map((one) => ({
    ...one,
    status: { replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
  }))
  const { endpoints } = settled().observed
  const plan = planServing({ ...observed, endpoints, deployments: rolling })
  const deployment = objectsToWrite(plan).find(({ kind }) => kind === 'Deployment') as Deployment
  assert.deepEqual(deployment.spec?.strategy?.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 })
  assert.match(plan.status?.message ?? '', /no spare GPU/)
})
