/**
 * The checkpoints of a job in its status: what was found before the attempt, and what the pods report since then.
 *
 * - A job is written for a new checkpoint at most every 10 s, or together with another change of its state.
 * - The condition `CheckpointHealthy` exists while the job runs and the usual interval between two checkpoints is known. It
 *   becomes False when none has come for three times as long. Nothing in it changes with time, so this is one write.
 */
import { getCondition, type Verdict } from '../../../api/conditions.ts'
import { compact } from '../../../api/json.ts'
import type { CheckpointStatus } from '../../../api/training-status.ts'
import type { EventNote } from '../../../decision/plan.ts'
import { earliest } from '../../requeue.ts'
import { formatDuration, millis, timestamp } from '../../time.ts'
import { type NewCheckpoint, reportedCheckpoint } from '../observe/reported-checkpoint.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { SUMMARY_CONDITION } from './conditions.ts'
import { checkpointOverdue } from './events.ts'
import type { StatusUpdate } from './status.ts'

const WRITE_MS = 10_000
const OVERDUE_INTERVALS = 3
/** Shorter pauses are usual, whatever was measured. */
const MIN_OVERDUE_MS = 60_000

export const CHECKPOINT_HEALTHY = 'CheckpointHealthy'

export interface CheckpointUpdate {
  /** Undefined: the status has none. */
  readonly status: CheckpointStatus | undefined
  readonly conditions: readonly Verdict[]
  readonly events: readonly EventNote[]
  readonly requeueAfterMs?: number | undefined
}

export function checkpointIn(snapshot: Snapshot, update: StatusUpdate): CheckpointUpdate {
  const { job, observed } = snapshot
  const known = update.checkpoint ?? job.status?.checkpoint
  const reported = update.checkpoint ? undefined : reportedCheckpoint(snapshot)
  const wait = reported && job.status?.state === update.state ? untilDue(known, observed.now) : 0
  const status = reported && wait <= 0 ? advanced(snapshot, known ?? {}, reported) : known
  const health = healthOf(snapshot, update, status)
  return { status, ...health, requeueAfterMs: earliest(wait > 0 ? wait : undefined, health.requeueAfterMs) }
}

function untilDue(known: CheckpointStatus | undefined, now: number): number {
  const last = millis(known?.time)
  return last === undefined ? 0 : Math.min(WRITE_MS, last + WRITE_MS - now)
}

function advanced({ job, observed }: Snapshot, known: CheckpointStatus, next: NewCheckpoint): CheckpointStatus {
  const time = timestamp(Math.min(next.receivedAt, observed.now))
  return compact({
    ...known,
    latest: next.location,
    step: next.step,
    time,
    intervalSeconds: intervalAfter(known, millis(time) ?? 0, runningSince(job)),
  })
}

/** Half of it is the last interval, so that it follows a change within a few checkpoints. */
function intervalAfter(known: CheckpointStatus, time: number, since: number): number | undefined {
  const last = millis(known.time)
  if (last === undefined || last < since || time <= last) return known.intervalSeconds
  const seconds = (time - last) / 1000
  return Math.round(known.intervalSeconds === undefined ? seconds : (known.intervalSeconds + seconds) / 2)
}

/** When all pods of the attempt ran. */
function runningSince({ status }: Snapshot['job']): number {
  const ready = getCondition(status?.conditions, SUMMARY_CONDITION)
  return (ready?.status === 'True' ? millis(ready.lastTransitionTime) : undefined) ?? Infinity
}

type Health = Pick<CheckpointUpdate, 'conditions' | 'events' | 'requeueAfterMs'>

function healthOf(
  { job, observed }: Snapshot,
  { state, isReady }: StatusUpdate,
  checkpoint: CheckpointStatus | undefined,
): Health {
  const { intervalSeconds, time } = checkpoint ?? {}
  const since = Math.max(millis(time) ?? 0, runningSince(job))
  if (state !== 'Running' || !isReady || !intervalSeconds || since === Infinity) return { conditions: [], events: [] }
  const left = since + Math.max(OVERDUE_INTERVALS * intervalSeconds * 1000, MIN_OVERDUE_MS) - observed.now
  const usual = formatDuration(intervalSeconds * 1000)
  if (left > 0) {
    const message = `A checkpoint is usually saved every ${usual}`
    return { conditions: [verdict(job, 'True', 'CheckpointSaved', message)], events: [], requeueAfterMs: left }
  }
  const message =
    `No new checkpoint since ${timestamp(since)}, usually one is saved every ${usual}; ` +
    'check the log of rank 0 and the free space of the storage'
  const wasOverdue = getCondition(job.status?.conditions, CHECKPOINT_HEALTHY)?.status === 'False'
  return {
    conditions: [verdict(job, 'False', 'CheckpointOverdue', message)],
    events: wasOverdue ? [] : [checkpointOverdue(message)],
  }
}

function verdict({ metadata }: Snapshot['job'], status: 'True' | 'False', reason: string, message: string): Verdict {
  const { generation } = metadata
  return {
    type: CHECKPOINT_HEALTHY,
    status,
    reason,
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}
