/** Lives of single models, step by step, against the simulated cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCondition } from '../../api/conditions.ts'
import { fetchFailureText } from '../../api/fetch-failure.ts'
import { withDefaults } from '../../api/defaults.ts'
import { type MlopsModelDeployment, mlopsModelDeploymentV1 } from '../../api/mlops-modeldeployment.v1.ts'
import { modelDeploymentV1 } from '../../api/modeldeployment.v1.ts'
import { fits } from '../../api/validity.ts'
import type { Deployment, HorizontalPodAutoscaler, Job, Pod, PodDisruptionBudget } from '../../kube/resources.ts'
import { ServingCluster, version } from '../../../test/sim/serving-cluster.ts'
import { calm } from '../../../test/sim/serving-history.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../model-names.ts'
import type { ServingObserved } from './observed.ts'
import { planServing, planServingRefusal } from './plan.ts'

const start = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const cluster = start(spec)
  assert.ok(calm(cluster, 40))
  return cluster
}

const names = (cluster: ServingCluster): string[] =>
  [...cluster.objects.values()].map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted()

const two = { versions: [version('v1', 90), version('v2', 10)] }

test('a model of one version has the names of the beginning, and no router', () => {
  const cluster = settled({ scaling: { minReplicas: 2, maxReplicas: 4 } })
  assert.deepEqual(names(cluster), [
    'Deployment/iris-deployment',
    'HorizontalPodAutoscaler/iris-hpa',
    'PodDisruptionBudget/iris-v1',
    'Service/iris-service',
    'Service/iris-v1',
  ])
  assert.equal(cluster.model.status?.traffic?.provider, 'direct')
  assert.equal(cluster.model.status?.url, 'http://iris-service.team-a.svc:8080')
  assert.deepEqual(cluster.events, ['VersionCreated', 'TrafficShifted', 'ModelReady'])
})

test('planning over its own result changes nothing, to the last field, and the status fits its schema', () => {
  for (const spec of [
    {},
    two,
    { ...two, traffic: { provider: 'replicas' } },
    { runtime: 'torchserve', image: undefined },
  ]) {
    const { observed, model } = settled(spec)
    const plan = planServing(observed)
    assert.deepEqual(plan, planServing(observed))
    assert.deepEqual(plan.prune, [])
    assert.deepEqual(plan.events, [])
    assert.ok(fits(modelDeploymentV1.status, model.status), JSON.stringify(model.status))
  }
})

test('a second version gets its own objects and a router; the first keeps its names and its pods', () => {
  const cluster = settled()
  const before = (cluster.objects.get('Deployment/iris-deployment') as Deployment).spec?.template
  cluster.edit(two)
  assert.ok(calm(cluster, 60))
  assert.deepEqual((cluster.objects.get('Deployment/iris-deployment') as Deployment).spec?.template, before)
  for (const name of [
    'Deployment/iris-v2',
    'Service/iris-v2',
    'HorizontalPodAutoscaler/iris-v2',
    'Deployment/iris-router',
  ])
    assert.ok(cluster.objects.has(name), name)
  assert.equal(cluster.model.status?.traffic?.provider, 'router')
  cluster.edit({ versions: [version('v2', 100)] })
  assert.ok(calm(cluster, 80))
  assert.deepEqual(names(cluster), [
    'Deployment/iris-v2',
    'HorizontalPodAutoscaler/iris-v2',
    'Service/iris-service',
    'Service/iris-v2',
  ])
  const life = ['TrafficSwitched', 'VersionIdle', 'VersionRemoved']
  for (const reason of life) assert.equal(cluster.events.filter((event) => event === reason).length >= 1, true, reason)
})

test('one version after another needs no router: the Service is turned once the new one is ready', () => {
  const cluster = settled()
  cluster.edit({ versions: [version('v2', 100)] })
  cluster.pass()
  assert.equal(cluster.service?.spec?.selector?.[VERSION_LABEL], 'v1')
  assert.ok(calm(cluster, 60))
  assert.equal(cluster.service?.spec?.selector?.[VERSION_LABEL], 'v2')
  assert.ok(!cluster.events.includes('TrafficSwitched'))
  assert.deepEqual([...cluster.servers.keys()], ['v2'])
})

test('replicas are the autoscaler’s, a fixed number is ours, and a budget guards two or more', () => {
  const cluster = settled({ scaling: { minReplicas: 3, maxReplicas: 3 } })
  assert.equal((cluster.objects.get('Deployment/iris-deployment') as Deployment).spec?.replicas, 3)
  assert.equal(cluster.of('HorizontalPodAutoscaler').length, 0)
  assert.equal(cluster.of<PodDisruptionBudget>('PodDisruptionBudget')[0]?.spec?.minAvailable, 2)
  const targets = {
    targetMemoryUtilization: 80,
    targetRequestsPerSecond: 50,
    targetQueueDepth: 4,
    targetGPUUtilization: 60,
  }
  cluster.edit({ scaling: { minReplicas: 3, maxReplicas: 9, ...targets } })
  assert.ok(calm(cluster, 40))
  assert.equal((cluster.objects.get('Deployment/iris-deployment') as Deployment).spec?.replicas, 3, 'not reset to one')
  const [autoscaler] = cluster.of<HorizontalPodAutoscaler>('HorizontalPodAutoscaler')
  assert.deepEqual(
    autoscaler?.spec?.metrics?.map(({ type }) => type),
    ['Resource', 'Resource', 'Pods', 'Pods', 'External'],
  )
})

test('an autoscaler that cannot measure is named; one that can is not', () => {
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
    message: 'every version has the pods it should have',
  })
})

test('a version starts only after its validation, which a failure blocks with its last words', () => {
  const cluster = start({ validation: { script: 'validate.py', timeoutSeconds: 60 } })
  cluster.pass()
  assert.equal(cluster.deployments.length, 0)
  const [job] = cluster.of<Job>('Job')
  assert.match(job?.metadata.name ?? '', /^iris-v1-validate-[0-9a-f]{8}$/)
  cluster.judge('Failed')
  cluster.pass()
  assert.equal(cluster.deployments.length, 0)
  assert.equal(cluster.model.status?.phase, 'Failed')
  assert.equal(cluster.model.status?.activeVersions?.[0]?.reason, 'ValidationFailed')
  cluster.edit({ image: 'iris:2' })
  assert.ok(calm(cluster, 40))
  assert.equal(cluster.model.status?.phase, 'Running')
  assert.deepEqual(cluster.of('Job').length, 1, 'the verdict on the image before is gone')
  const events = ['ValidationStarted', 'ValidationFailed', 'ModelFailed', 'ValidationStarted', 'ValidationSucceeded']
  assert.deepEqual(cluster.events.slice(0, 5), events)
})

test('a version that runs is not touched while its change is being validated', () => {
  const cluster = settled()
  cluster.edit({ image: 'iris:2', validation: { script: 'validate.py', timeoutSeconds: 60 } })
  cluster.pass()
  const image = () => cluster.servers.get('v1')?.spec?.template.spec?.containers[0]?.image
  assert.equal(image(), 'iris:1')
  assert.equal(cluster.model.status?.phase, 'Running')
  cluster.judge('Complete')
  cluster.pass()
  assert.equal(image(), 'iris:2')
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

const troubles: readonly [string, object, RegExp][] = [
  ['ImagePullFailed', waiting('ImagePullBackOff', 'no such image'), /no such image; check image/],
  ['ArtifactNotFound', fetched(fetchFailureText({ reason: 'ArtifactNotFound', message: 'no key m' })), /no key m/],
  ['AccessDenied', fetched(fetchFailureText({ reason: 'AccessDenied', message: 'not yours' })), /not yours/],
  ['FetchFailed', fetched('killed'), /kubectl logs iris-x -c model-fetch/],
  ['OutOfMemory', crashed('OOMKilled', 137), /raise resources.limits.memory/],
  ['CrashLoopBackOff', crashed('Error', 1), /exit code 1 .*--previous$/],
  ['CrashLoopBackOff', crashed('Error', 1, 'loading\nno such model\n'), /exit code 1 .*--previous; .*: no such model$/],
  ['InsufficientGPU', unscheduled('0/3 nodes: 3 Insufficient nvidia.com/gpu'), /Insufficient nvidia/],
  ['InsufficientResources', unscheduled('0/3 nodes: 3 Insufficient cpu'), /waits for a node/],
]

for (const [reason, status, message] of troubles) {
  test(`what is wrong is named: ${reason}`, () => {
    const observed = withPod(status)
    const plan = planServing(observed)
    assert.equal(plan.status?.phase, 'Failed')
    assert.equal(plan.status.activeVersions?.[0]?.reason, reason)
    assert.match(plan.status.message ?? '', message)
    const ready = plan.status.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['False', reason])
    const warnings = plan.events.filter(({ type }) => type === 'Warning').map((event) => event.reason)
    assert.deepEqual(warnings, [reason, 'ModelFailed'])
    const again = planServing({ ...observed, model: { ...observed.model, status: plan.status } as never })
    assert.deepEqual(again.events, [], 'said once')
  })
}

test('a quota that keeps pods away is named', () => {
  const cluster = start()
  cluster.pass()
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods=5' }]
  const deployment = cluster.servers.get('v1')
  const observed = { ...cluster.observed, deployments: [{ ...deployment, status: { conditions } } as Deployment] }
  assert.equal(planServing(observed).status?.activeVersions?.[0]?.reason, 'QuotaExceeded')
})

test('without a GPU to spare new pods take the place of old ones, and that is said', () => {
  const cluster = start({ resources: { limits: { 'nvidia.com/gpu': 1 } } })
  const observed = withPod(unscheduled('0/3 nodes: 3 Insufficient nvidia.com/gpu'), cluster)
  const rolling = observed.deployments.map((one) => ({
    ...one,
    status: { replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
  }))
  const plan = planServing({ ...observed, deployments: rolling })
  const deployment = plan.apply.find(({ kind }) => kind === 'Deployment') as Deployment
  assert.deepEqual(deployment.spec?.strategy?.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 })
  assert.match(plan.status?.message ?? '', /no GPU to spare/)
})

test('a runtime that nobody has is named, and what runs stays as it is', () => {
  const cluster = settled()
  cluster.edit({ runtime: 'mine' })
  const plan = cluster.pass()
  assert.deepEqual([plan.apply, plan.prune], [[], []])
  assert.equal(plan.status?.phase, 'Degraded')
  assert.match(plan.status?.message ?? '', /no ModelServer mine .*triton/)
  assert.equal(getCondition(cluster.model.status?.conditions, 'Ready')?.status, 'True', 'it still answers')
})

test('a refused write is told once', () => {
  const { observed } = settled()
  const plan = planServingRefusal(observed, 'exceeded quota: deployments=1')
  assert.equal(plan.events[0]?.reason, 'QuotaExceeded')
  const again = planServingRefusal(
    { ...observed, model: { ...observed.model, status: plan.status } as never },
    'exceeded quota: deployments=1',
  )
  assert.deepEqual(again.events, [])
})

test('a provider that the cluster does not have is named, and another one serves', () => {
  const cluster = settled({ ...two, traffic: { provider: 'istio' } })
  assert.equal(cluster.model.status?.traffic?.provider, 'router')
  assert.match(cluster.model.status?.message ?? '', /VirtualService/)
})

test('the plain kind goes the same way: one version, a fixed pod unless it is to follow the load', () => {
  const plain = (more: object): MlopsModelDeployment => ({
    apiVersion: 'mlops.sathvik.dev/v1',
    kind: 'ModelDeployment',
    metadata: { name: 'dummy', namespace: 'team-a', uid: 'u', generation: 1 },
    spec: withDefaults<object>(mlopsModelDeploymentV1.spec, {
      modelURI: 'https://dummy.com/dummy_model.pt',
      runtime: 'fastapi-pytorch',
      ...more,
    }) as MlopsModelDeployment['spec'],
  })
  const plan = (more: object) => planServing({ ...start().observed, model: plain(more) })
  const kinds = (more: object): string[] => plan(more).apply.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  assert.deepEqual(kinds({}), ['Service/dummy-v1', 'Deployment/dummy-deployment', 'Service/dummy-service'])
  assert.ok(kinds({ autoscale: true }).includes('HorizontalPodAutoscaler/dummy-hpa'))
  assert.ok(kinds({ validateScript: 'validate.py' }).some((name) => name.startsWith('Job/dummy-v1-validate-')))
  assert.equal(plan({}).status?.url, 'http://dummy-service.team-a.svc:8000')
})
