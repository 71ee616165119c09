/** Sick pods in an analysis: a new version with too few healthy pods fails the interval, whatever it answers. */
import { WHOLE } from '../../traffic/index.ts'
import { HEALTHY_SHARE, isUnhealthy } from '../observe/version-health.ts'
import { replicasOf } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { Judgement } from './judgement.ts'

export const HEALTHY_PODS = 'healthyPods'

/** The first of these versions that has too few healthy pods. */
export function sickCandidate(
  { versions, findings }: Pick<ModelView, 'versions' | 'findings'>,
  candidates: readonly string[],
): Judgement | undefined {
  for (const version of versions.filter(({ name }) => candidates.includes(name))) {
    const found = findings.get(version.name)
    if (!found || !isUnhealthy(version, found)) continue
    const value = Math.floor((found.healthy / replicasOf(version)) * WHOLE)
    return { result: 'Fail', version: version.name, metric: HEALTHY_PODS, value, threshold: HEALTHY_SHARE * WHOLE }
  }
  return undefined
}
