/**
 * Plays the controller of Deployments, and does no more than say that all pods of each are there: what a model costs the
 * operator does not depend on what its pods cost others.
 */
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { keyOf } from '../../src/kube/object.ts'
import { Deployment } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'

/** As many as an autoscaler would ask for at least. */
const REPLICAS = 2

export function startDeploymentDriver(cluster: ClientConfig): { stop(): Promise<void> } {
  const client = createClient(cluster)
  const stop = new AbortController()
  const follow = async (): Promise<void> => {
    for await (const update of watch(client, Deployment, { signal: stop.signal })) {
      if (update.type === 'replace') for (const deployment of update.items) tell(client, deployment)
      else if (update.type === 'apply') tell(client, update.object)
    }
    await client.close()
  }
  const ended = follow()
  return {
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}

function tell(client: Client, deployment: Deployment): void {
  const { generation = 0 } = deployment.metadata
  if (deployment.status?.observedGeneration === generation) return
  const replicas = deployment.spec?.replicas ?? REPLICAS
  const all = Math.max(replicas, REPLICAS)
  const counts = { replicas: all, updatedReplicas: all, readyReplicas: all, availableReplicas: all }
  const status = { observedGeneration: generation, ...counts }
  void client.patch(Deployment, keyOf(deployment), { status }, { subresource: 'status' }).catch(() => undefined)
}
