/**
 * Who changes the number of pods of a version. There is one writer at a time: while a HorizontalPodAutoscaler exists, the
 * operator decides nothing, and it is created only for a version that the operator does not scale.
 */
import type { VersionAutoscaling } from '../../../api/autoscaling-status.ts'
import { isAutoscaled, type VersionScaling } from '../observe/served-model.ts'
import { replicasOf, type Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'
import { hasRequestTarget, loadOf } from './load.ts'
import { nextRecord } from './recommendation.ts'

/** The APIs in which a HorizontalPodAutoscaler finds metrics of requests. */
export const METRIC_APIS = { pods: 'custom.metrics.k8s.io', external: 'external.metrics.k8s.io' } as const

/** The operator scales the version by its requests. */
export interface RequestScaling {
  /** For the status. Absent while a HorizontalPodAutoscaler still exists. */
  readonly record?: VersionAutoscaling
  /** Why the number of pods cannot follow the requests. */
  readonly problem?: string
}

/** By its requests, because the cluster has no API in which an autoscaler could find them. */
export function scalesByRequests(
  { observed: { metricApis } }: ModelView,
  { current }: Routing,
  { wanted, recorded }: Version,
): boolean {
  const scaling = wanted?.scaling
  if (!scaling || !isAutoscaled(scaling) || !hasRequestTarget(scaling) || !current.provider.proxyName) return false
  // As long as it is unknown what the cluster offers, nothing changes.
  if (!metricApis) return recorded?.autoscaling !== undefined
  return neededApis(scaling).some((api) => !metricApis.has(api))
}

function neededApis(scaling: VersionScaling): string[] {
  const { targetRequestsPerSecond, targetConcurrency, targetQueueDepth } = scaling
  const isPerPod = targetRequestsPerSecond !== undefined || targetConcurrency !== undefined
  return [...(isPerPod ? [METRIC_APIS.pods] : []), ...(targetQueueDepth === undefined ? [] : [METRIC_APIS.external])]
}

export function requestScaling(view: ModelView, version: Version, scaling: VersionScaling): RequestScaling {
  const { autoscalers } = view.observed
  const isTaken = autoscalers.some(({ metadata }) => metadata.name === version.autoscalerName)
  if (isTaken || !version.deployment) return {}
  const { problem, ...load } = loadOf(view, version, scaling)
  const before = version.recorded?.autoscaling ?? { replicas: replicasOf(version) }
  const { minReplicas, maxReplicas } = scaling
  return {
    record: nextRecord(before, { ...load, minReplicas, maxReplicas, now: view.now }),
    ...(problem !== undefined && { problem }),
  }
}
