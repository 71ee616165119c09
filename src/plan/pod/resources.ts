/** Compute resources of a container: those of the spec, completed by defaults that never contradict them. */
import type { ComputeResources } from '../../api/compute.ts'
import { compareQuantity, parseQuantity } from '../../kube/quantity.ts'

type Amounts = Readonly<Record<string, string>>

export interface Resources {
  readonly requests: Amounts
  readonly limits: Amounts
}

export interface ResourceConfig {
  /** CPU and memory of a container whose spec sets neither. */
  readonly defaultResources: Resources
  /** Resource name of GPUs. */
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

/** For specs that request GPUs by their resource name. */
export function requestedGpus(wanted: ComputeResources | undefined, gpuResource: string): number {
  return Number(wanted?.limits?.[gpuResource] ?? wanted?.requests?.[gpuResource] ?? 0)
}

/** Kubernetes uses a limit as the request where there is none, so a default is only for resources without a limit. */
function requestsFor(defaults: Amounts, limits: Amounts): Amounts {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => limits[name] === undefined))
}

/** The API server rejects a limit below the request. */
function limitsFor(defaults: Amounts, requests: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, limit]) => [name, larger(limit, requests[name] ?? limit)]),
  )
}

const larger = (one: string, other: string): string =>
  compareQuantity(parseQuantity(one), parseQuantity(other)) >= 0 ? one : other

const asText = (amounts: Readonly<Record<string, string | number>> = {}): Amounts =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
