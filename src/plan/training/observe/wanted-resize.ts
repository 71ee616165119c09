/**
 * A change of `numWorkers` while workers run. It restarts all of them, so it waits:
 *
 * - for `resizeIntervalMs` after the last change, so that an autoscaler that changes its mind does not restart the gang
 *   again and again,
 * - then, with `AtCheckpoint`, for a checkpoint that completes from then on, up to `maxWaitSeconds`. A job that has
 *   reported no checkpoint so far does not wait for one. The newest checkpoint is recorded while the rate limit holds, and
 *   the next one is newer than that: its time is not compared with the clock of the operator.
 *
 * The time of the first request is recorded: further changes of the number do not prolong the wait. A number that changes
 * back ends it.
 */
import type { ResizeStatus } from '../../../api/training-elastic.ts'
import { millis, notBefore, timestamp } from '../../time.ts'
import { recordedAdmission } from './gang-choice.ts'
import { hasStarted } from './member.ts'
import { newestCheckpoint } from './newest-checkpoint.ts'
import type { Snapshot } from './snapshot.ts'
import { quantify } from '../../counted.ts'

export interface PendingResize {
  readonly status: ResizeStatus
  /** When to decide again, if nothing happens before. */
  readonly requeueAfterMs: number
}

/** Undefined if the number of workers is as wanted. Nothing is lost by a change before any worker has started. */
export function wantedResize(snapshot: Snapshot): 'due' | PendingResize | undefined {
  const { job, attempt, gang } = snapshot
  // A queue may grant quota for a part of the workers.
  const { requestedWorkers = attempt.worldSize } = recordedAdmission(snapshot.observed, attempt) ?? {}
  if (job.spec.numWorkers === requestedWorkers) return undefined
  if (!job.spec.elastic || !gang.some(hasStarted)) return 'due'
  const times = timesOf(snapshot, job.spec.elastic)
  const { now } = snapshot.observed
  const hasCheckpoint = times.newest !== undefined && times.newest > (times.known ?? Infinity)
  if (now >= times.deadline || (hasCheckpoint && now >= times.allowedAt)) return 'due'
  return pendingUntil(snapshot, times)
}

interface Times {
  readonly requestedAt: number
  /** When the rate limit allows the change. */
  readonly allowedAt: number
  readonly deadline: number
  /** When the newest checkpoint was reported, in whole seconds, as it is recorded. */
  readonly newest: number | undefined
  /** The same when the change was allowed. */
  readonly known: number | undefined
}

type Elastic = NonNullable<Snapshot['job']['spec']['elastic']>

/** Recorded times that are later than now are those of another clock, and are ignored. */
function timesOf({ job, observed }: Snapshot, { resizePolicy, maxWaitSeconds }: Elastic): Times {
  const now = millis(timestamp(observed.now)) ?? observed.now
  const past = (time: string | undefined): number | undefined => {
    const ms = millis(time)
    return ms === undefined || ms > now ? undefined : ms
  }
  const { resize, lastResizeTime } = job.status ?? {}
  const requestedAt = past(resize?.requestedTime) ?? now
  const last = past(lastResizeTime) ?? -Infinity
  const allowedAt = Math.max(requestedAt, last + observed.config.resizeIntervalMs)
  const newest = reportedAt(observed)
  const isLimited = observed.now < allowedAt
  const known = isLimited ? newest : (millis(resize?.lastCheckpointTime) ?? newest)
  const waitsForCheckpoint = resizePolicy === 'AtCheckpoint' && known !== undefined
  return {
    requestedAt,
    allowedAt,
    deadline: allowedAt + (waitsForCheckpoint ? maxWaitSeconds * 1000 : 0),
    newest,
    known,
  }
}

/** When the newest checkpoint was reported. */
function reportedAt(observed: Snapshot['observed']): number | undefined {
  const checkpoint = newestCheckpoint(observed)
  return checkpoint && millis(timestamp(checkpoint.at))
}

function pendingUntil({ job, attempt, observed: { now } }: Snapshot, times: Times): PendingResize {
  const { numWorkers } = job.spec
  const isLimited = now < times.allowedAt
  const change = `Scaling from ${attempt.worldSize} to ${quantify(numWorkers, 'worker')}`
  const deadline = notBefore(times.deadline)
  const message = isLimited
    ? `${change} waits until ${notBefore(times.allowedAt)}, because the number has changed shortly before`
    : `${change} waits for the next checkpoint, at most until ${deadline}`
  return {
    status: {
      desired: numWorkers,
      current: attempt.worldSize,
      reason: isLimited ? 'RateLimited' : 'WaitingForCheckpoint',
      message,
      requestedTime: timestamp(times.requestedAt),
      deadline,
      ...(times.known !== undefined && { lastCheckpointTime: timestamp(times.known) }),
    },
    requeueAfterMs: (isLimited ? times.allowedAt : times.deadline) - now,
  }
}
