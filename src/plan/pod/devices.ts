/**
 * Devices of nodes, such as GPUs: what pods request of them, and where they are free. Devices are what plugins advertise.
 */
import { isOrAre, quantify } from '../counted.ts'
import type { Pod } from '../../kube/resources.ts'
import { isDevice } from './gpu-environment.ts'
import { fitsNode, type NodePlacement } from './node-fit.ts'
import { podRequests, type Requests, total } from './requests.ts'

type PodSpec = NonNullable<Pod['spec']>

/** Empty for a pod without devices. */
export const devicesOf = (spec: PodSpec): Requests =>
  new Map([...podRequests(spec)].filter(([name, nano]) => isDevice(name) && nano > 0n))

/** A node that takes pods, with devices. */
export interface DeviceNode extends NodePlacement {
  readonly name: string
  readonly allocatable: Requests
  /** What pods on it request, terminating ones included. */
  readonly held: Requests
}

/** Pods hold their devices until they have ended. */
export const heldBy = (pods: readonly Pod[]): Requests =>
  total(pods.filter(isActive).map(({ spec }) => (spec?.containers ? devicesOf(spec) : new Map<string, bigint>())))

const isActive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

export interface Demand {
  /** Of one pod. */
  readonly devices: Requests
  readonly spec: PodSpec
  /** That many pods. */
  readonly pods: number
}

/** The nodes that a pod fits, whatever is free there. */
export const fittingNodes = ({ spec, devices }: Demand, nodes: readonly DeviceNode[]): readonly DeviceNode[] =>
  nodes.filter((node) => fitsNode(spec, node) && [...devices.keys()].every((name) => node.allocatable.has(name)))

/** Negative if pods hold more than the node has: it lost devices. */
const freeOf = ({ allocatable, held }: DeviceNode, name: string): bigint =>
  (allocatable.get(name) ?? 0n) - (held.get(name) ?? 0n)

/** How many pods find their devices on a node, if these are released there. */
export function roomOn(node: DeviceNode, { devices }: Demand, released: Requests = NOTHING): number {
  const counts = [...devices].map(([name, nano]) => Number((freeOf(node, name) + (released.get(name) ?? 0n)) / nano))
  return Math.max(0, Math.min(...counts))
}

const NOTHING: Requests = new Map()

export const roomIn = (nodes: readonly DeviceNode[], demand: Demand): number =>
  nodes.reduce((sum, node) => sum + roomOn(node, demand), 0)

const ONE = 1_000_000_000n

/** `0 of 1 GPU is free`, about the device that is scarcest. */
export function describeSupply(demand: Demand, nodes: readonly DeviceNode[], gpuResource: string): string {
  const supplies = [...demand.devices].map(([name, nano]) => {
    const free = nodes.reduce((sum, node) => sum + larger(freeOf(node, name), 0n), 0n)
    const all = nodes.reduce((sum, node) => sum + (node.allocatable.get(name) ?? 0n), 0n)
    return { name, nano, free, all }
  })
  const [scarce] = supplies.toSorted((one, other) => Number(one.free / one.nano - other.free / other.nano))
  if (!scarce) return ''
  const noun = scarce.name === gpuResource ? 'GPU' : scarce.name
  const plural = noun === 'GPU' ? quantify(count(scarce.all), noun) : `${count(scarce.all)} ${noun}`
  if (scarce.all === 0n) return `no node that fits has a ${noun}`
  const free = `${count(scarce.free)} of ${plural} ${isOrAre(count(scarce.all))} free`
  return scarce.free < scarce.nano * BigInt(demand.pods) ? free : `${free}, but not ${count(scarce.nano)} on one node`
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const count = (nano: bigint): number => Number(nano / ONE)
