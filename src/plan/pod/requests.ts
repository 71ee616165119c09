/** What pods request of a node, added up. */
import { parseQuantity } from '../../kube/quantity.ts'
import type { Pod } from '../../kube/resources.ts'

export type Requests = ReadonlyMap<string, bigint>

type PodSpec = NonNullable<Pod['spec']>
type Container = PodSpec['containers'][number]

/** As the scheduler counts: init containers run one after the other, before the containers and beside the sidecars. */
export function podRequests({ containers, initContainers = [] }: PodSpec): Requests {
  const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always'
  const sidecars = initContainers.filter(isSidecar).map(containerRequests)
  const running = total([...containers.map(containerRequests), ...sidecars])
  const starting = initContainers
    .filter((one) => !isSidecar(one))
    .map((one) => total([containerRequests(one), ...sidecars]))
  return starting.reduce(larger, running)
}

export const total = (all: readonly Requests[]): Requests => all.reduce((sum, one) => merged(sum, one, add), NOTHING)

const NOTHING: Requests = new Map()

export const times = (requests: Requests, count: number): Requests =>
  new Map([...requests].map(([name, nano]) => [name, nano * BigInt(count)]))

/** By name of the resource, in the order of the names, without those that are 0. */
export function amountsOf(requests: Requests): Record<string, string> {
  const entries = [...requests].filter(([, nano]) => nano > 0n).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, nano]) => [name, amountOf(nano)]))
}

/** A request that is omitted is that of the limit. */
function containerRequests({ resources }: Container): Requests {
  const amounts = Object.entries({ ...resources?.limits, ...resources?.requests })
  return new Map(amounts.map(([name, amount]) => [name, parseQuantity(amount).nano]))
}

const add = (one: bigint, other: bigint): bigint => one + other
const larger = (one: Requests, other: Requests): Requests => merged(one, other, (a, b) => (a > b ? a : b))

function merged(one: Requests, other: Requests, by: (one: bigint, other: bigint) => bigint): Requests {
  const names = new Set([...one.keys(), ...other.keys()])
  return new Map([...names].map((name) => [name, by(one.get(name) ?? 0n, other.get(name) ?? 0n)]))
}

const NANO = 1_000_000_000n
const MICRO = 1_000_000n

function amountOf(nano: bigint): string {
  if (nano % NANO === 0n) return String(nano / NANO)
  return nano % MICRO === 0n ? `${nano / MICRO}m` : `${nano}n`
}
