import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versions } from '../../../../test/builders/model-deployment.ts'
import { objectsToDelete, objectsToWrite } from '../../../../test/builders/plans.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import type { ConfigMap, Deployment } from '../../../kube/resources.ts'
import { planServing } from '../plan.ts'

/** TorchServe has a configuration file. */
function settled() {
  const spec = { runtime: 'torchserve', image: undefined }
  const cluster = new ServingCluster(planServing, () => undefined, { spec })
  assert.ok(calm(cluster, 40))
  const [files] = cluster.of<ConfigMap>('ConfigMap')
  const deployment = cluster.servers.get('v1')
  assert.ok(files && deployment)
  return { cluster, files, deployment }
}

test('files under the name of an earlier release stay until no pod mounts them', () => {
  const { cluster, files, deployment } = settled()
  assert.match(files.metadata.name, /^iris-files-[0-9a-f]{8}$/)
  // As the earlier release left it: the same files under another name.
  const old = { ...files, metadata: { ...files.metadata, name: 'iris-config' } }
  const mounting = JSON.parse(
    JSON.stringify(deployment).replaceAll(files.metadata.name, old.metadata.name),
  ) as Deployment
  const plan = (configMaps: ConfigMap[], one: Deployment) =>
    planServing({ ...cluster.observed, configMaps, deployments: [one] })
  const first = plan([old], mounting)
  const order = objectsToWrite(first).map(({ kind }) => kind)
  assert.ok(order.indexOf('ConfigMap') < order.indexOf('Deployment'), 'files before the pods that mount them')
  assert.deepEqual(objectsToDelete(first), [])
  const rolling = { ...deployment, status: { ...deployment.status, replicas: 2, updatedReplicas: 1 } }
  assert.deepEqual(objectsToDelete(plan([old, files], rolling)), [], 'while old pods are there')
  assert.deepEqual(objectsToDelete(plan([old, files], deployment)), [old])
})

test('files that are not validated never reach pods that run', () => {
  const { cluster, files } = settled()
  cluster.edit({ modelName: 'other', validation: { script: 'validate.py', timeoutSeconds: 60 } })
  const plan = cluster.pass()
  assert.deepEqual(cluster.objects.get(`ConfigMap/${files.metadata.name}`), files)
  assert.deepEqual(plan.deletions, [])
})

test('the configuration of routers of an earlier release stays until they are replaced', () => {
  const spec = { versions: versions({ v1: 90, v2: 10 }), traffic: { provider: 'router' } }
  const cluster = new ServingCluster(planServing, () => undefined, { spec })
  assert.ok(calm(cluster, 40))
  const { configMaps, deployments, traffic } = cluster.observed
  const [config] = configMaps
  const [proxy] = traffic.proxies
  assert.ok(config && proxy)
  // As the earlier release left it: another proxy, with its configuration under the name of the Deployment.
  const old = { ...config, metadata: { ...config.metadata, name: proxy.deployment.metadata.name } }
  const plan = (deployment: Deployment) =>
    planServing({
      ...cluster.observed,
      configMaps: [old, config],
      deployments: [...deployments.filter((one) => one !== proxy.deployment), deployment],
      traffic: { ...traffic, proxies: [{ ...proxy, deployment }] },
    })
  const text = JSON.stringify(proxy.deployment).replaceAll(config.metadata.name, old.metadata.name)
  assert.deepEqual(objectsToDelete(plan(JSON.parse(text) as Deployment)), [], 'while a template mounts it')
  const observedGeneration = proxy.deployment.metadata.generation ?? 0
  const replaced = (updatedReplicas: number): Deployment => ({
    ...proxy.deployment,
    status: { replicas: 2, updatedReplicas, observedGeneration },
  })
  assert.deepEqual(objectsToDelete(plan(replaced(1))), [], 'while old pods are there')
  assert.deepEqual(objectsToDelete(plan(replaced(2))), [old])
})
