/**
 * A fake Deployment controller that only reports all pods as available: the operator's cost of a model does not depend on its pods.
 */
import type { Client } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { keyOf } from '../../src/kube/object.ts'
import { Deployment } from '../../src/kube/resources.ts'
import { type Driver, startDriver } from './driver.ts'

/** The minimum of the autoscaler. */
const REPLICAS = 2

export function startDeploymentDriver(cluster: ClientConfig): Driver {
  return startDriver(cluster, { resource: Deployment, act: reportAvailable })
}

function reportAvailable(client: Client, deployment: Deployment): void {
  const { generation = 0 } = deployment.metadata
  if (deployment.status?.observedGeneration === generation) return
  const replicas = deployment.spec?.replicas ?? REPLICAS
  const all = Math.max(replicas, REPLICAS)
  const counts = { replicas: all, updatedReplicas: all, readyReplicas: all, availableReplicas: all }
  const status = { observedGeneration: generation, ...counts }
  void client.patch(Deployment, keyOf(deployment), { status }, { subresource: 'status' }).catch(() => undefined)
}
