import { after } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from './api.ts'
import { sharedCluster } from './shared-cluster.ts'
import { type FakeNode, fakeNode } from '../fakes/kubelet.ts'

export interface ApiCluster {
  readonly cluster: ClientConfig
  readonly client: Client
  /** For the pods of this test file only. */
  readonly node: FakeNode
}

/** The shared control plane with our CRDs, and a fake node that is removed after the calling test file. */
export async function apiCluster(): Promise<ApiCluster> {
  const { kubeconfig } = await sharedCluster()
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const node = await fakeNode(client)
  after(async () => {
    await node.remove()
    await client.close()
  })
  return { cluster, client, node }
}
