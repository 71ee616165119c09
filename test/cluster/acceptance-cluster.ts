import { after } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { installApi } from './api.ts'
import { type Decide, type FakeNode, fakeNode, Kubelet } from '../fakes/kubelet.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'

export interface AcceptanceCluster {
  readonly plane: ControlPlane
  readonly client: Client
  readonly node: FakeNode
  /** One per namespace. Kubelets that a test adds are stopped with the others. */
  readonly kubelets: Kubelet[]
  readonly operator: OperatorProcess
}

/**
 * Starts a control plane with these namespaces (`default` first, which exists), a fake kubelet in each, and the operator as a
 * process. Stops them after the calling test file.
 */
export async function acceptanceCluster(namespaces: readonly string[], decide: Decide): Promise<AcceptanceCluster> {
  const plane = await startControlPlane()
  const client = createClient(await configFromKubeconfig(plane.kubeconfig))
  for (const name of namespaces.slice(1))
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await installApi(client)
  const node = await fakeNode(client)
  const kubelets = namespaces.map((namespace) => new Kubelet({ client, namespace, node: node.name, decide }))
  const operator = await startOperatorProcess(plane.kubeconfig)
  after(async () => {
    await operator.stop()
    for (const kubelet of kubelets) await kubelet.stop()
    await node.remove()
    await client.close()
    await plane.stop()
  })
  return { plane, client, node, kubelets, operator }
}
