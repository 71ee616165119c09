/**
 * Whether an attempt has the quota of its queue. The grant is recorded in the status before the first pod of the attempt is
 * created. The record names the group that was granted, so a group that was replaced meanwhile does not count.
 */
import type { Admission } from '../../../api/training-quota.ts'
import { type Json, sameJson } from '../../../api/json.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { type Cause, type Quota, type Reference, referenceKey } from '../gangs/quota.ts'
import { WORKER } from '../names.ts'
import { gangOf, podGroupOf } from '../objects/pod-group.ts'
import { type Attempt, attemptOf } from './attempt.ts'
import { gangChoice, isServed, recordedAdmission } from './gang-choice.ts'
import type { TrainingObserved } from './observed.ts'
import { isFinished } from './state.ts'

export type Standing =
  /** Recorded, and still granted. */
  | { readonly state: 'held'; readonly group: KubeObject }
  /** Recorded, and no longer granted. */
  | ({ readonly state: 'lost' } & Cause)
  /** Granted, and not recorded yet. */
  | { readonly state: 'granted'; readonly admission: Admission }
  | ({ readonly state: 'waiting' } & Cause)
  /** Taken back. It is to be released when no pod is left. */
  | ({ readonly state: 'withdrawn'; readonly group: KubeObject } & Cause)
  /** The group cannot serve this attempt: it is to be deleted. */
  | { readonly state: 'unusable'; readonly group: KubeObject }
  /** There is no group yet. Without `missing`, it can be created. */
  | { readonly state: 'absent'; readonly group: KubeObject; readonly missing?: Reference }

/** Undefined if the attempt needs no quota, or nothing of it is known because the cluster does not serve the kind. */
export function standingOf(observed: TrainingObserved, attempt: Attempt): Standing | undefined {
  const { scheduler, trouble } = gangChoice(observed, attempt)
  const { quota } = scheduler
  if (!quota || trouble || attempt.number === 0 || !isServed(scheduler, observed)) return undefined
  const recorded = recordedAdmission(observed, attempt)
  return recorded ? standingOfRecord(observed, quota, recorded) : standingWithoutRecord(observed, quota, attempt)
}

function standingOfRecord({ groups = [] }: TrainingObserved, quota: Quota, recorded: Admission): Standing {
  const group = groups.find(({ metadata }) => metadata.uid === recorded.uid)
  if (!group) return { state: 'lost', reason: 'WorkloadDeleted', message: 'its Workload was deleted' }
  // Objects that the grant depends on are not read again: what they said is recorded.
  const assumed = new Map(quota.grantReferences(group).map((one) => [referenceKey(one), group]))
  const verdict = quota.verdictOn(group, assumed)
  if (verdict.state !== 'granted') return { reason: verdict.reason, message: verdict.message, state: 'lost' }
  return sameJson(grantOf(verdict.admission), grantOf(recorded))
    ? { state: 'held', group }
    : { state: 'lost', reason: 'QuotaChanged', message: 'other quota was granted than the pods were created for' }
}

/** What pods depend on. */
const grantOf = ({ clusterQueue, podSets }: Pick<Admission, 'clusterQueue' | 'podSets'>): Json => [
  clusterQueue,
  ...podSets.map(({ name, count, flavors = {} }) => [name, count, { ...flavors }]),
]

function standingWithoutRecord(observed: TrainingObserved, quota: Quota, attempt: Attempt): Standing | undefined {
  const { found = new Map() } = observed
  const wanted = podGroupOf(observed, attempt)
  if (!wanted) return undefined
  const gang = gangOf(observed, attempt)
  const group = existing(observed, wanted)
  if (!group) {
    const missing = quota.groupReferences(gang).find((one) => !found.has(referenceKey(one)))
    return { state: 'absent', group: wanted, ...(missing && { missing }) }
  }
  const verdict = quota.verdictOn(group, found)
  if (verdict.state === 'withdrawn') return { ...verdict, group }
  if (verdict.state === 'over' || !quota.isFor(group, gang)) return { state: 'unusable', group }
  if (verdict.state === 'waiting') return verdict
  return { state: 'granted', admission: { ...verdict.admission, requestedWorkers: attempt.worldSize } }
}

function existing({ groups = [] }: TrainingObserved, { apiVersion, metadata: { name } }: KubeObject) {
  return groups.find((one) => one.metadata.name === name && one.apiVersion === apiVersion)
}

/** What to read before the next decision about quota: nothing for jobs that need none or have it. */
export function quotaReferences(observed: TrainingObserved): readonly Reference[] {
  const { job } = observed
  const attempt = attemptOf(job)
  const { scheduler, trouble } = gangChoice(observed, attempt)
  const { quota } = scheduler
  if (!quota || trouble || isFinished(job) || recordedAdmission(observed, attempt)) return []
  const wanted = podGroupOf(observed, attempt)
  const group = wanted && existing(observed, wanted)
  if (group) return quota.grantReferences(group)
  return wanted ? quota.groupReferences(gangOf(observed, attempt)) : []
}

/** Number of workers that the queue has granted. */
export const grantedWorkers = ({ podSets }: Admission): number =>
  podSets.find(({ name }) => name === WORKER)?.count ?? 0
