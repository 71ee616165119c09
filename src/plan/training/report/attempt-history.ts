/** The timeline of a job: its attempts that have ended, in its status, so that it survives the operator. */
import { MAX_ATTEMPTS, MAX_FAILED_NODES, type PastAttempt } from '../../../api/training-history.ts'
import { timestamp } from '../../time.ts'
import { failuresOf } from '../observe/failure.ts'
import { podsOf } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinal } from '../observe/state.ts'
import { hasRun } from './restarts.ts'
import type { StatusUpdate } from './status.ts'

const MAX_REASON = 128

/** The attempt is added in the update that decides its end. */
export function attemptHistoryAfter(snapshot: Snapshot, update: StatusUpdate): readonly PastAttempt[] | undefined {
  const { attemptHistory: known = [] } = snapshot.job.status ?? {}
  const ended = isEnded(snapshot, update, known) ? [pastAttempt(snapshot, update)] : []
  const all = [...known, ...ended].slice(-MAX_ATTEMPTS)
  return all.length > 0 ? all : undefined
}

function isEnded(snapshot: Snapshot, { attempt, state }: StatusUpdate, known: readonly PastAttempt[]): boolean {
  const { number } = snapshot.attempt
  const isOver = attempt.number !== number || isFinal(state) || state === 'Suspending'
  return isOver && number > 0 && hasRun(snapshot) && !known.some((past) => past.attempt === number)
}

/** A suspension ends the attempt; the reason of the update is that of its progress. */
function pastAttempt(snapshot: Snapshot, { state, reason, lastFailure }: StatusUpdate): PastAttempt {
  const { attempt, gang, observed } = snapshot
  const [startTime] = podsOf(gang)
    .flatMap(({ metadata }) => metadata.creationTimestamp ?? [])
    .toSorted()
  const nodes = lastFailure ? failuresOf(observed, gang).flatMap(({ member }) => member.pod?.spec?.nodeName ?? []) : []
  const failedNodes = [...new Set(nodes)].toSorted().slice(0, MAX_FAILED_NODES)
  return {
    attempt: attempt.number,
    ...(startTime !== undefined && { startTime }),
    endTime: timestamp(observed.now),
    reason: (state === 'Suspending' ? 'Suspended' : reason).slice(0, MAX_REASON),
    worldSize: attempt.worldSize,
    ...(failedNodes.length > 0 && { failedNodes }),
  }
}
