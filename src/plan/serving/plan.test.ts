/** Lives of single models, step by step, against the simulated cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToDelete, objectsToWrite } from '../../../test/builders/plans.ts'
import { withDefaults } from '../../api/defaults.ts'
import { type MlopsModelDeployment, mlopsModelDeploymentV1 } from '../../api/mlops-modeldeployment.v1.ts'
import { modelDeploymentV1 } from '../../api/modeldeployment.v1.ts'
import { fits } from '../../api/validity.ts'
import type { Deployment, HorizontalPodAutoscaler, PodDisruptionBudget } from '../../kube/resources.ts'
import { ServingCluster, version } from '../../../test/sim/serving-cluster.ts'
import { calm } from '../../../test/sim/serving-history.ts'
import { VERSION_LABEL } from '../model-names.ts'
import { planServing } from './plan.ts'

const start = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const cluster = start(spec)
  assert.ok(calm(cluster, 40))
  return cluster
}

const names = (cluster: ServingCluster): string[] =>
  [...cluster.objects.values()].map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted()

const two = { versions: [version('v1', 90), version('v2', 10)] }

test('a model of one version has the names of a single-version model, and no router', () => {
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
    assert.deepEqual(objectsToDelete(plan), [])
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

test('one version after another needs no router: the Service is switched once the new one is ready', () => {
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

test('a model whose Service has no ready endpoints is not ready, whatever its Deployments say', () => {
  const { observed } = settled()
  const [slice] = observed.endpoints
  const unready = [{ addresses: ['10.0.0.1'], conditions: { ready: false } }]
  for (const endpoints of [[], [{ ...slice, endpoints: unready }], [{ ...slice, endpoints: null }]]) {
    const { status, events } = planServing({ ...observed, endpoints: endpoints as never })
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'NoEndpoints'])
    assert.equal(status?.message, 'Service iris-service has no ready endpoints')
    assert.deepEqual(
      events.map(({ reason, note }) => `${reason}: ${note}`),
      ['ModelUnavailable: Service iris-service has no ready endpoints'],
    )
  }
})

test('a provider that is not available is reported, and another one serves', () => {
  const cluster = settled({ ...two, traffic: { provider: 'istio' } })
  assert.equal(cluster.model.status?.traffic?.provider, 'router')
  assert.match(cluster.model.status?.message ?? '', /VirtualService/)
})

test('the mlops group is served alike: one version, one pod unless it is autoscaled', () => {
  const mlops = (more: object): MlopsModelDeployment => ({
    apiVersion: 'mlops.sathvik.dev/v1',
    kind: 'ModelDeployment',
    metadata: { name: 'dummy', namespace: 'team-a', uid: 'u', generation: 1 },
    spec: withDefaults<object>(mlopsModelDeploymentV1.spec, {
      modelURI: 'https://dummy.com/dummy_model.pt',
      runtime: 'fastapi-pytorch',
      ...more,
    }) as MlopsModelDeployment['spec'],
  })
  const plan = (more: object) => planServing({ ...start().observed, model: mlops(more) })
  const kinds = (more: object): string[] =>
    objectsToWrite(plan(more)).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  assert.deepEqual(kinds({}), ['Service/dummy-v1', 'Deployment/dummy-deployment', 'Service/dummy-service'])
  assert.ok(kinds({ autoscale: true }).includes('HorizontalPodAutoscaler/dummy-hpa'))
  assert.ok(kinds({ validateScript: 'validate.py' }).some((name) => name.startsWith('Job/dummy-v1-validate-')))
  assert.equal(plan({}).status?.url, 'http://dummy-service.team-a.svc:8000')
})
