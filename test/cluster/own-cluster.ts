import { after } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../testenv/control-plane.ts'
import { type FakeNode, fakeNode } from '../fakes/kubelet.ts'
import { installApi } from './api.ts'

export interface OwnCluster {
  readonly plane: ControlPlane
  readonly cluster: ClientConfig
  readonly client: Client
  readonly node: FakeNode
}

/** Starts a control plane with our CRDs and a fake node for one test file, and stops it after the file. */
export async function ownCluster(options: ControlPlaneOptions = {}): Promise<OwnCluster> {
  const plane = await startControlPlane(options)
  const cluster = await configFromKubeconfig(plane.kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const node = await fakeNode(client)
  after(async () => {
    await node.remove()
    await client.close()
    await plane.stop()
  })
  return { plane, cluster, client, node }
}
