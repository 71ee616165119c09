/**
 * Worker counts of a finished job. Workers that succeeded or failed stay counted when their pods are deleted. Others are
 * counted while they run, and no longer once they terminate: they neither succeeded nor failed.
 */
import type { WorkerStatus } from '../../../api/training-parts.ts'
import { WORKER } from '../names.ts'
import { isTerminating, type Member } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { countPhases, type PlannedStatus, workerStatus } from './status.ts'

type Counted = Pick<PlannedStatus, 'workers' | 'workerStatuses' | 'roles'>

export function finalCounts({ job, attempt, gang }: Snapshot): Counted {
  const { workers, workerStatuses, roles } = job.status ?? {}
  const left = gang.filter((member) => !isTerminating(member))
  const current = ({ workerId }: WorkerStatus): WorkerStatus[] =>
    left
      .filter(({ role, index }) => role === WORKER && index === workerId)
      .map((member) => workerStatus(member, attempt, job.status ?? {}))
  const statuses = workerStatuses?.flatMap((known) => (hasEnded(known) ? [known] : current(known)))
  return {
    ...(workers && statuses && { workers: countPhases(statuses) }),
    ...(statuses && { workerStatuses: statuses }),
    ...(roles && { roles: roles.map((known) => ({ ...known, ...roleCounts(known, left) })) }),
  }
}

export const hasEnded = ({ phase }: WorkerStatus): boolean => phase === 'Succeeded' || phase === 'Failed'

type RoleCounts = NonNullable<PlannedStatus['roles']>[number]

/** For a role only counts are recorded: those of ended pods never decrease. */
function roleCounts(
  { name, succeeded = 0, failed = 0 }: RoleCounts,
  left: readonly Member[],
): Omit<RoleCounts, 'name'> {
  const present = countPhases(left.filter(({ role }) => role === name))
  return {
    active: present.active,
    pending: present.pending,
    succeeded: Math.max(succeeded, present.succeeded),
    failed: Math.max(failed, present.failed),
  }
}
