/** What a pod holds of its node, and since when: from its placement until its containers have ended. */
import type { Pod } from '../../../kube/resources.ts'
import { podRequests } from '../../pod/requests.ts'
import { millis } from '../../time.ts'
import { isSpotNode, type NodePrice } from '../cost-config.ts'
import type { TrainingConfig } from '../config.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'

export interface PodUsage {
  readonly attempt: number
  /** Thousandths of a GPU and of a CPU. */
  readonly gpus: number
  readonly cpus: number
  /** Of an hour, in the currency of the administrator; 0 for a node without a price. */
  readonly price: number
  /** Milliseconds since the epoch. */
  readonly start: number
  /** Absent while containers may run. */
  readonly end?: number
}

/** Undefined for a member without a pod, and for a pod without a node: it costs nothing. */
export function usageOf({ pod, attempt }: Member, { config, nodes }: TrainingObserved): PodUsage | undefined {
  if (pod?.spec?.nodeName === undefined) return undefined
  const { nodeName } = pod.spec
  const start = startOf(pod)
  if (start === undefined) return undefined
  const requests = podRequests({ ...pod.spec, containers: pod.spec.containers ?? [] })
  const gpus = thousandths(requests.get(config.gpuResource))
  const cpus = thousandths(requests.get('cpu'))
  const labels = nodes.find(({ name }) => name === nodeName)?.labels
  const price = priceOf(labels && priceFor(labels, config), { gpus, cpus, memory: requests.get('memory') ?? 0n })
  const end = endOf(pod)
  return { attempt, gpus, cpus, price, start, ...(end !== undefined && { end: Math.max(start, end) }) }
}

const MILLI = 1_000_000n
const NANO = 1e9
const GIB = 1024 ** 3

const thousandths = (nano = 0n): number => Number(nano / MILLI)

/** The first price that matches the labels of a node. */
export function priceFor(labels: Readonly<Record<string, string>>, config: TrainingConfig): NodePrice | undefined {
  return config.cost.prices.find(({ nodeLabels = {}, spot }) => {
    const isMatch = Object.entries(nodeLabels).every(([label, value]) => labels[label] === value)
    return isMatch && (spot === undefined || spot === isSpotNode(labels, config))
  })
}

interface Held {
  readonly gpus: number
  readonly cpus: number
  readonly memory: bigint
}

function priceOf(price: NodePrice | undefined, { gpus, cpus, memory }: Held): number {
  const { gpuHour = 0, cpuHour = 0, memoryGiBHour = 0 } = price ?? {}
  return (gpus * gpuHour + cpus * cpuHour) / 1000 + (Number(memory) / NANO / GIB) * memoryGiBHour
}

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

/** The scheduler reserves the node before the kubelet knows the pod. */
function startOf({ metadata, status }: Pod): number | undefined {
  const placed = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'True')
  return millis(placed?.lastTransitionTime) ?? millis(status?.startTime) ?? millis(metadata.creationTimestamp)
}

/** A pod that has ended holds nothing of its node, although it still exists. */
function endOf({ status }: Pod): number | undefined {
  if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') return undefined
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status
  const ends = [...containerStatuses, ...initContainerStatuses].map(({ state }) => state?.terminated?.finishedAt)
  return latest(ends) ?? latest(conditions.map(({ lastTransitionTime }: Condition) => lastTransitionTime)) ?? 0
}

function latest(times: readonly (string | undefined)[]): number | undefined {
  const known = times.flatMap((time) => millis(time) ?? [])
  return known.length > 0 ? Math.max(...known) : undefined
}
