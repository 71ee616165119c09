import assert from 'node:assert/strict'
import { test } from 'node:test'
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
