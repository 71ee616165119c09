/**
 * Times in the status that waits are measured from: drains, retirements, evictions, steps and intervals of a rollout. One that is later than now was
 * recorded by another clock, for example before the operator moved to another node. The wait would take as long as the
 * clocks differ, so it begins now. The new time is recorded by this pass.
 */
import type { VersionAutoscaling } from '../../../api/autoscaling-status.ts'
import type { RolloutPhase } from '../../../api/rollout-status.ts'
import type { ActiveVersion, ServingStatus } from '../../../api/serving-status.ts'
import { millis, notBefore } from '../../time.ts'
import type { ServingObserved } from './observed.ts'

export function withPastTimes(observed: ServingObserved): ServingObserved {
  const { model, now } = observed
  return model.status ? { ...observed, model: { ...model, status: pastStatus(model.status, now) } } : observed
}

function pastStatus(status: ServingStatus, now: number): ServingStatus {
  const { traffic, activeVersions, rollout } = status
  return {
    ...status,
    ...(traffic && { traffic: past(traffic, ['since'], now) }),
    ...(activeVersions && { activeVersions: activeVersions.map((version) => pastVersion(version, now)) }),
    ...(rollout && { rollout: pastRollout(rollout, now) }),
  }
}

function pastVersion(version: ActiveVersion, now: number): ActiveVersion {
  const { health, autoscaling } = version
  return {
    ...past(version, ['idleSince'], now),
    ...(health && { health: past(health, ['lastEvictionTime'], now) }),
    ...(autoscaling && { autoscaling: pastAutoscaling(autoscaling, now) }),
  }
}

function pastAutoscaling(record: VersionAutoscaling, now: number): VersionAutoscaling {
  const { changes, lower } = record
  return {
    ...record,
    ...(changes && { changes: changes.map((change) => past(change, ['time'], now)) }),
    ...(lower && { lower: lower.map((step) => past(step, ['since'], now)) }),
  }
}

type RecordedRollout = NonNullable<ServingStatus['rollout']>

const UNDER_WAY: readonly RolloutPhase[] = ['Progressing', 'Paused', 'Watching']

/** Nothing waits for the times of a rollout that has ended. */
function pastRollout(rollout: RecordedRollout, now: number): RecordedRollout {
  const { analysis, phase } = rollout
  if (!UNDER_WAY.includes(phase)) return rollout
  return {
    ...past(rollout, ['stepStartedAt', 'inEffectSince'], now),
    ...(analysis && { analysis: past(analysis, ['since'], now) }),
  }
}

/** The same record, with these times not after now. Records are rounded up to the next second. */
function past<T extends object>(record: T, fields: readonly (keyof T)[], now: number): T {
  const latest = notBefore(now)
  const isLater = (field: keyof T): boolean =>
    (millis(record[field] as string | undefined) ?? 0) > (millis(latest) ?? 0)
  return { ...record, ...Object.fromEntries(fields.filter(isLater).map((field) => [field, latest])) }
}
