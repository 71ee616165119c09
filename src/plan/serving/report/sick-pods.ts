/** Sick pods of a version as a trouble: what was observed, what happens next, and what to do. */
import { isOrAre, portion, quantify } from '../../counted.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { isUnhealthy } from '../observe/version-health.ts'
import { replicasOf, type Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import { MAX_EVICTIONS, type Replacement } from '../steps/eviction.ts'

/** Undefined while enough pods are healthy: then they are only replaced. */
export function sickPodsTrouble(
  { findings }: ModelView,
  version: Version,
  { record, held }: Replacement,
): Trouble | undefined {
  const found = findings.get(version.name)
  const [first] = found?.sick ?? []
  if (!found || !first || !isUnhealthy(version, found)) return undefined
  const count = portion(found.sick.length, replicasOf(version), 'pod')
  const verb = isOrAre(replicasOf(version))
  const next = record?.evicting ? `evicting ${record.evicting.pod}` : (held ?? 'one of them is evicted next')
  const cause = `${first.pod.metadata.name}: ${first.message}`
  return { reason: first.reason, message: `${count} ${verb} unhealthy (${cause}); ${next}${advice(record)}` }
}

function advice(record: Replacement['record']): string {
  if ((record?.evictions ?? 0) < MAX_EVICTIONS) return ''
  return `; ${quantify(MAX_EVICTIONS, 'pod')} in a row had to be evicted, so check the server and its model`
}
