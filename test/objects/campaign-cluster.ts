/** A cluster with our CRDs and a fake node, for campaigns with live objects. */
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from '../cluster/api.ts'
import { fakeNode } from '../fakes/kubelet.ts'
import { areTrafficKindsServed, installTrafficKinds, removeTrafficKinds } from '../cluster/traffic-crds.ts'
import type { CampaignCluster } from './lane.ts'

export interface OpenCampaignCluster extends CampaignCluster {
  close(): Promise<void>
}

/** With `isRouted`, installs the CRDs of Istio and the Gateway API until it is closed: only on a cluster of its own. */
export async function openCluster(kubeconfig: string, { isRouted = false } = {}): Promise<OpenCampaignCluster> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const installs = isRouted && !(await areTrafficKindsServed(client))
  if (installs) await installTrafficKinds(client)
  const node = await fakeNode(client)
  return {
    client,
    cluster,
    node: node.name,
    isRouted,
    close: async () => {
      if (installs) await removeTrafficKinds(client)
      await node.remove()
      await client.close()
    },
  }
}
