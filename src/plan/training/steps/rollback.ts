/**
 * A gang that cannot be completed, because the API server rejected some of its pods, is rolled back: a part of it could
 * hold GPUs, train or even succeed without the others. The next attempt is recorded and starts after a pause; the passes
 * that follow delete the pods. It does not count against backoffLimit.
 */
import { getCondition } from '../../../api/conditions.ts'
import { millis, notBefore } from '../../time.ts'
import { isElastic } from '../frameworks/elasticity.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { SUMMARY_CONDITION } from '../report/conditions.ts'
import type { StatusUpdate } from '../report/status.ts'
import { nextAttempt } from './step.ts'

/** Some pods of the gang exist and some are missing. An elastic job trains with those that exist. */
export const isPartial = ({ job, gang, missing }: Snapshot): boolean =>
  missing.length > 0 && gang.some(({ pod }) => pod !== undefined) && !isElastic(job.spec)

export function rollBack(snapshot: Snapshot): Pick<StatusUpdate, 'attempt' | 'members' | 'restartTime'> {
  return { ...nextAttempt(snapshot), restartTime: notBefore(snapshot.observed.now + pauseOf(snapshot)) }
}

/** As long as the gang has already been waiting, so that retries become rarer. */
function pauseOf({ job, observed: { now, config } }: Snapshot): number {
  const since = millis(getCondition(job.status?.conditions, SUMMARY_CONDITION)?.lastTransitionTime) ?? now
  return Math.min(Math.max(now - since, config.backoffMs), config.backoffLimitMs)
}
