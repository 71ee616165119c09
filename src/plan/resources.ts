/** Compute resources of a pod: what the spec says, completed so that what it leaves out never contradicts it. */
import type { ComputeResources } from '../api/compute.ts'
import { compareQuantity, parseQuantity } from '../kube/quantity.ts'

type Amounts = Readonly<Record<string, string>>

export interface Resources {
  readonly requests: Amounts
  readonly limits: Amounts
}

/** What whoever runs the operator decides: amounts for CPU and memory where nothing is said, and what a GPU is called. */
export interface ResourceConfig {
  readonly defaultResources: Resources
  readonly gpuResource: string
}

export function resourcesOf(wanted: ComputeResources | undefined, gpus: number, config: ResourceConfig): Resources {
  const requests = asText(wanted?.requests)
  const limits = asText(wanted?.limits)
  const { defaultResources, gpuResource } = config
  const gpu = gpus > 0 ? { [gpuResource]: String(gpus) } : {}
  return {
    requests: { ...requestsFor(defaultResources.requests, limits), ...requests, ...gpu },
    limits: { ...limitsFor(defaultResources.limits, requests), ...limits, ...gpu },
  }
}

/** Where there is a limit, it is the request as well, as everywhere in Kubernetes. */
function requestsFor(defaults: Amounts, limits: Amounts): Amounts {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => limits[name] === undefined))
}

/** A limit below the request would be refused. */
function limitsFor(defaults: Amounts, requests: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, limit]) => [name, larger(limit, requests[name] ?? limit)]),
  )
}

const larger = (one: string, other: string): string =>
  compareQuantity(parseQuantity(one), parseQuantity(other)) >= 0 ? one : other

const asText = (amounts: Readonly<Record<string, string | number>> = {}): Amounts =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
