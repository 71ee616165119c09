/** With `user: cluster`, no pod that the operator creates has a fixed user or group, and all of them stay restricted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { operatorConfig } from '../../src/operator-config.ts'
import { planServing } from '../../src/plan/serving/index.ts'
import { ServingCluster, version } from '../sim/serving-cluster.ts'
import { calm } from '../sim/serving-history.ts'
import { TrainingCluster } from '../sim/training-cluster.ts'

type PodSpec = NonNullable<Pod['spec']>

/** The pod of a Pod, Deployment or Job. */
function podIn(object: KubeObject): PodSpec[] {
  const { spec } = object as { readonly spec?: PodSpec & { readonly template?: { readonly spec?: PodSpec } } }
  if (object.kind === 'Pod') return spec ? [spec] : []
  return spec?.template?.spec ? [spec.template.spec] : []
}

const containersOf = ({ initContainers = [], containers }: PodSpec) => [...initContainers, ...containers]

function assertLeftToCluster(pod: PodSpec): void {
  const { runAsUser, runAsGroup, fsGroup, ...context } = pod.securityContext ?? {}
  assert.deepEqual([runAsUser, runAsGroup, fsGroup], [undefined, undefined, undefined])
  assert.equal(context.runAsNonRoot, true)
  assert.deepEqual(context.seccompProfile, { type: 'RuntimeDefault' })
  for (const { name, securityContext } of containersOf(pod)) {
    assert.equal(securityContext?.allowPrivilegeEscalation, false, name)
    assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] }, name)
    assert.deepEqual([securityContext.runAsUser, securityContext.runAsGroup], [undefined, undefined], name)
  }
}

const config = operatorConfig({ training: { user: 'cluster' }, serving: { user: 'cluster' } })

test('model servers with a fetch, their validation and routers', () => {
  const versions = [
    version('v1', 90, { modelPath: 's3://models/m' }),
    version('v2', 10, { modelPath: 's3://models/m' }),
  ]
  const spec = { versions, traffic: { provider: 'router' } }
  const found = new Set<string>()
  for (const more of [{}, { validation: { script: 'v.py', timeoutSeconds: 60 } }]) {
    const plan = (observed: Parameters<typeof planServing>[0]) => planServing({ ...observed, config: config.serving })
    const cluster = new ServingCluster(plan, () => undefined, { spec: { ...spec, ...more } })
    if (Object.keys(more).length === 0) assert.ok(calm(cluster, 60))
    else cluster.pass()
    const pods = [...cluster.objects.values()].flatMap(podIn)
    for (const pod of pods) assertLeftToCluster(pod)
    for (const { name } of pods.flatMap(containersOf)) found.add(name)
  }
  assert.deepEqual([...found].toSorted(), ['agent', 'envoy', 'files', 'model-fetch', 'server', 'validate'])
})

for (const engine of ['pods', 'job'])
  test(`workers of the engine ${engine}`, () => {
    const cluster = new TrainingCluster({ engine, numWorkers: 2 })
    Object.assign(cluster.config, { user: config.training.user })
    for (let pass = 0; pass < 6; pass++) cluster.pass()
    const pods = [...cluster.pods, ...(cluster.workload ? [cluster.workload] : [])].flatMap(podIn)
    assert.ok(pods.length > 0)
    for (const pod of pods) assertLeftToCluster(pod)
  })
