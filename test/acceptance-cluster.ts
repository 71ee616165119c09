import { after } from 'node:test'
import { type Client, createClient } from '../src/kube/client.ts'
import { configFromKubeconfig } from '../src/kube/config.ts'
import { Namespace } from '../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../testenv/control-plane.ts'
import { installApi } from './api.ts'
import { type Decide, type FakeNode, fakeNode, Kubelet } from './kubelet.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'

export interface AcceptanceCluster {
  readonly plane: ControlPlane
  readonly client: Client
  readonly node: FakeNode
  /** One for each place; whoever adds one has it stopped with the others. */
  readonly kubelets: Kubelet[]
  readonly operator: OperatorProcess
}

/**
 * A control plane of its own with the namespaces that manifests name (`default` first, which is there), a kubelet in each
 * and the operator as a process; until the file that calls this has ended.
 */
export async function acceptanceCluster(places: readonly string[], decide: Decide): Promise<AcceptanceCluster> {
  const plane = await startControlPlane()
  const client = createClient(await configFromKubeconfig(plane.kubeconfig))
  for (const name of places.slice(1))
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await installApi(client)
  const node = await fakeNode(client)
  const kubelets = places.map((namespace) => new Kubelet({ client, namespace, node: node.name, decide }))
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
