/**
 * Which devices of the nodes are free. Nodes and our own pods are cached, so that a shortage that these alone explain needs no
 * read. Pods of others are read from the API server: only where a decision depends on them, and only of nodes that would
 * have room without them.
 */
import { parseQuantity } from '../kube/quantity.ts'
import { type Node, Pod } from '../kube/resources.ts'
import { type Demand, type DeviceNode, fittingNodes, heldBy, roomIn, roomOn } from '../plan/pod/devices.ts'
import { isDevice } from '../plan/pod/gpu-environment.ts'
import type { Cache, ReconcileContext } from '../runtime/index.ts'
import { NODE } from './node-cache.ts'

/** The pods on a node, of all namespaces. Undefined if they cannot be read. */
export type ReadNodePods = (node: string) => Promise<readonly Pod[] | undefined>

export interface DeviceSources {
  readonly nodes: Cache<Node>
  /** Of our own pods, each with the index by node. */
  readonly pods: readonly Cache<Pod>[]
  /** Absent for an operator that may not read pods of all namespaces. */
  readonly readNodePods?: ReadNodePods
}

/** With more nodes that seem to have room, the rest is taken as it seems. */
const MAX_READS = 16
const TIMEOUT_MS = 5_000

export async function gatherDevices(demands: readonly Demand[], sources: DeviceSources): Promise<DeviceNode[]> {
  const known = new Map(sources.nodes.list().flatMap((node) => deviceNode(node, sources.pods)))
  const { readNodePods } = sources
  if (!readNodePods) return [...known.values()]
  const read = new Set<string>()
  for (const demand of demands)
    for (;;) {
      const next = nodeToRead(demand, [...known.values()], read)
      const pods = next && (await readNodePods(next.name))
      if (!next || !pods) break
      read.add(next.name)
      known.set(next.name, { ...next, held: heldBy(pods) })
    }
  return [...known.values()]
}

/** The one with most room, as far as is known. Undefined if enough is certain, or nothing more is to be had. */
function nodeToRead(demand: Demand, nodes: readonly DeviceNode[], read: ReadonlySet<string>): DeviceNode | undefined {
  const fitting = fittingNodes(demand, nodes).filter((node) => roomOn(node, demand) > 0)
  const certain = fitting.filter(({ name }) => read.has(name))
  if (read.size >= MAX_READS || roomIn(certain, demand) >= demand.pods) return undefined
  const [most] = fitting
    .filter(({ name }) => !read.has(name))
    .toSorted((one, other) => roomOn(other, demand) - roomOn(one, demand))
  return most
}

/** A node that takes pods and has devices. */
function deviceNode(node: Node, caches: readonly Cache<Pod>[]): [string, DeviceNode][] {
  const { name, labels = {} } = node.metadata
  const devices = Object.entries(node.status?.allocatable ?? {}).filter(([resource]) => isDevice(resource))
  if (devices.length === 0 || !takesPods(node)) return []
  const pods = caches.flatMap((cache) => cache.byIndex(NODE, name))
  const distinct = [...new Map(pods.map((pod) => [pod.metadata.uid, pod])).values()]
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule')
  const allocatable = new Map(devices.map(([resource, amount]) => [resource, parseQuantity(amount).nano]))
  return [[name, { name, labels, taints, allocatable, held: heldBy(distinct) }]]
}

function takesPods({ metadata, spec, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  return isReady && !spec?.unschedulable && metadata.deletionTimestamp === undefined
}

export function nodePods({ client, signal, log }: Pick<ReconcileContext, 'client' | 'signal' | 'log'>): ReadNodePods {
  return async (node) => {
    try {
      const { items } = await client.list(Pod, {
        fieldSelector: `spec.nodeName=${node}`,
        timeoutMs: TIMEOUT_MS,
        signal,
      })
      return items
    } catch (error) {
      signal.throwIfAborted()
      log.debug({ err: error, node }, 'cannot read the pods of a node')
      return undefined
    }
  }
}
