/** The health of a version: which of its pods are sick, and which share is healthy. */
import { isPodReady } from '../../pod-ready.ts'
import type { ServingObserved } from './observed.ts'
import { FAILURE_THRESHOLD, isUnreachable, sicknessOf, type SickPod } from './pod-health.ts'
import type { ServedModel } from './served-model.ts'
import { availableOf, replicasOf, type Version } from './version.ts'

/** A model or version with fewer healthy pods than this share is not healthy. */
export const HEALTHY_SHARE = 0.8

export interface VersionFindings {
  readonly sick: readonly SickPod[]
  /** Number of pods that the operator cannot connect to. */
  readonly unreachable: number
  /** Available pods that are not sick. */
  readonly healthy: number
}

export function findingsOf(
  { health, now }: ServingObserved,
  { check }: Pick<ServedModel, 'check'>,
  version: Version,
): VersionFindings {
  const threshold = check?.failureThreshold ?? FAILURE_THRESHOLD
  const checked = version.pods.map((pod) => ({ pod, found: health?.get(pod.metadata.uid ?? '') }))
  const sick = checked.flatMap(({ pod, found }) => sicknessOf(pod, found, { threshold, now }) ?? [])
  const readySick = sick.filter(({ pod }) => isPodReady(pod)).length
  return {
    sick,
    unreachable: checked.filter(({ found }) => isUnreachable(found, threshold)).length,
    healthy: Math.max(0, availableOf(version) - readySick),
  }
}

/** Sick pods leave too few healthy ones. */
export const isUnhealthy = (version: Version, { sick, healthy }: VersionFindings): boolean =>
  sick.length > 0 && healthy < HEALTHY_SHARE * replicasOf(version)
