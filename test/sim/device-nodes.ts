/** Nodes with GPUs, and the pods of a simulated model on them: each on the first node with room. */
import type { Deployment, Pod } from '../../src/kube/resources.ts'
import { type Demand, type DeviceNode, devicesOf, heldBy, roomOn } from '../../src/plan/pod/devices.ts'
import { total } from '../../src/plan/pod/requests.ts'
import type { ServingObserved } from '../../src/plan/serving/index.ts'
import type { ServingCluster } from './serving-cluster.ts'

export const GPU = 'nvidia.com/gpu'
const TPU = 'example.com/tpu'
const ONE = 1_000_000_000n

export const deviceNode = (name: string, gpus: number): DeviceNode => ({
  name,
  labels: {},
  taints: [],
  allocatable: new Map([
    [GPU, BigInt(gpus) * ONE],
    [TPU, ONE],
  ]),
  held: new Map(),
})

type Servers = Pick<ServingCluster, 'servers' | 'workloads'>

export class SimulatedDevices {
  /** Without any, nothing is known of nodes. */
  nodes: readonly DeviceNode[] = []
  /** GPUs that pods of others hold. */
  taken = 0

  /** Pods that find no node are left out: only the scheduler could say so. Others take what is left. */
  observed(cluster: Servers, others: readonly Pod[]): Pick<ServingObserved, 'pods' | 'devices'> {
    if (this.nodes.length === 0) return { pods: others }
    const nodes = this.nodes.map((node) => ({ ...node }))
    const pods = [...cluster.servers.values()].flatMap((deployment) => podsOf(cluster, deployment))
    const placed = pods.flatMap((pod) => place(pod, nodes))
    for (let left = this.taken; left > 0; left -= 1) {
      const node = nodes.find((one) => (one.allocatable.get(GPU) ?? 0n) > (one.held.get(GPU) ?? 0n))
      if (node) node.held = total([node.held, new Map([[GPU, ONE]])])
    }
    return { pods: [...others, ...placed], devices: nodes }
  }
}

type Filling = Omit<DeviceNode, 'held'> & { held: DeviceNode['held'] }

function place(pod: Pod, nodes: readonly Filling[]): Pod[] {
  const { spec } = pod
  if (!spec) return []
  const demand: Demand = { devices: devicesOf(spec), spec, pods: 1 }
  const node = nodes.find((one) => demand.devices.size > 0 && roomOn(one, demand) > 0)
  if (!node) return []
  node.held = total([node.held, heldBy([pod])])
  return [{ ...pod, spec: { ...spec, nodeName: node.name } }]
}

function podsOf({ workloads }: Servers, deployment: Deployment): Pod[] {
  const key = `Deployment/${deployment.metadata.name}`
  const { template } = deployment.spec ?? {}
  return Array.from({ length: workloads.get(key)?.ready ?? 0 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template?.metadata, name: `${deployment.metadata.name}-${index}`, uid: `${key}-${index}` },
    ...(template?.spec && { spec: template.spec }),
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }))
}
