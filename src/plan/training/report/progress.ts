/**
 * Progress in the status, from the reports of the pods.
 *
 * - Values stay until the next report: after a restart of the operator there are no reports in memory, but nothing is lost.
 * - Within an attempt, progress does not decrease. Another attempt, or one that has lost a worker, resumes from a
 *   checkpoint: then the status shows where it is.
 * - The pace is measured between two reports of one attempt, so neither a suspension nor a restart changes it.
 * - A job is written for its progress at most every 10 s, and at the end of an epoch at most every 2 s.
 */
import { compact, sameJson } from '../../../api/json.ts'
import type { TrainingJobState, TrainingJobStatus } from '../../../api/training-status.ts'
import { millis, timestamp } from '../../time.ts'
import { type LatestReport, latestReport, rounded } from '../observe/latest-report.ts'
import type { Snapshot } from '../observe/snapshot.ts'

const WRITE_MS = 10_000
const EPOCH_MS = 2_000
/** Weight of a new measurement: at least this, and more the longer it took. */
const MIN_WEIGHT = 0.2
const SMOOTHING_SECONDS = 300
const MAX_REMAINING_SECONDS = 10 * 365 * 86_400
/** Significant digits of a pace. */
const DIGITS = 6

type Progress = Pick<
  TrainingJobStatus,
  'progress' | 'currentEpoch' | 'totalEpochs' | 'step' | 'totalSteps' | 'metrics' | 'estimatedCompletion' | 'lastReport'
>

export interface ProgressUpdate {
  /** Undefined fields are removed from the status. */
  readonly fields: { readonly [K in keyof Progress]: Progress[K] | undefined }
  /** When a report that is not recorded yet may be written. */
  readonly requeueAfterMs?: number
}

/** `state`: that of the job after this plan. */
export function progressIn(snapshot: Snapshot, state: TrainingJobState): ProgressUpdate {
  const known: Progress = snapshot.job.status ?? {}
  const latest = latestReport(snapshot)
  const next = latest && advanced(snapshot, latest)
  if (!next || isSame(known, next)) return { fields: inState(known, state) }
  const wait = snapshot.job.status?.state === state ? untilDue(snapshot, next) : 0
  return wait > 0 ? { fields: inState(known, state), requeueAfterMs: wait } : { fields: inState(next, state) }
}

/** There is an estimate only while the job trains. A job that has completed is at 100 %, also if it stopped early. */
function inState(progress: Progress, state: TrainingJobState): ProgressUpdate['fields'] {
  const { estimatedCompletion } = progress
  const isComplete = state === 'Completed' && progress.progress !== undefined
  return {
    ...progressFields(progress),
    estimatedCompletion: state === 'Running' ? estimatedCompletion : undefined,
    ...(isComplete && { progress: '100%' }),
  }
}

function progressFields({ progress, currentEpoch, totalEpochs, step, totalSteps, metrics, lastReport }: Progress) {
  return { progress, currentEpoch, totalEpochs, step, totalSteps, metrics, lastReport }
}

function advanced(snapshot: Snapshot, latest: LatestReport): Progress {
  const { job, observed, attempt } = snapshot
  const known: Progress = job.status ?? {}
  const floor = isResumed(snapshot) ? {} : known
  const percent = atLeast(latest.percent === undefined ? undefined : rounded(latest.percent), floor.lastReport?.percent)
  const percentPerSecond = paceOf(snapshot, percent)
  const { source } = latest
  const currentEpoch = atLeast(latest.epoch, floor.currentEpoch) ?? known.currentEpoch
  const step = atLeast(latest.step, floor.step) ?? known.step
  return compact({
    progress: percent === undefined ? known.progress : `${Math.floor(percent)}%`,
    currentEpoch,
    totalEpochs: latest.totalEpochs ?? known.totalEpochs,
    step,
    totalSteps: latest.totalSteps ?? known.totalSteps,
    metrics: metricsAfter(known, latest),
    estimatedCompletion: completionOf(latest, percent, percentPerSecond),
    lastReport: compact({
      time: new Date(observed.now).toISOString(),
      attempt: attempt.number,
      source,
      percent,
      progressTime: progressTimeOf(snapshot, { currentEpoch, step, percent }),
      percentPerSecond,
    }),
  })
}

/** Now, if the position is another one than the recorded. A checkpoint is progress too: it is in the observed stillness. */
function progressTimeOf({ job, attempt, observed }: Snapshot, position: object): string | undefined {
  const { currentEpoch, step, lastReport } = job.status ?? {}
  const isSameAttempt = lastReport?.attempt === attempt.number
  const recorded = compact({ currentEpoch, step, percent: lastReport?.percent })
  if (!isSameAttempt || !sameJson(recorded, compact({ ...position }))) return timestamp(observed.now)
  const { progressTime } = lastReport
  const advancedAt = observed.now - (observed.stillness?.unchangedMs ?? Infinity)
  return advancedAt > (millis(progressTime) ?? observed.now) + WRITE_MS ? timestamp(advancedAt) : progressTime
}

const metricsAfter = ({ metrics }: Progress, latest: LatestReport): Progress['metrics'] =>
  Object.keys(latest.metrics ?? {}).length > 0 ? latest.metrics : metrics

/** Training may have gone back to a checkpoint: this is another attempt, or a worker was lost since the last report. */
function isResumed({ job, attempt }: Snapshot): boolean {
  const { lastReport, lastFailure } = job.status ?? {}
  if (!lastReport) return true
  const lostAt = millis(lastFailure?.time) ?? -Infinity
  return lastReport.attempt !== attempt.number || lostAt >= (millis(lastReport.time) ?? 0)
}

const atLeast = (value: number | undefined, floor: number | undefined): number | undefined =>
  value === undefined || floor === undefined ? (value ?? floor) : Math.max(value, floor)

/** Percent per second: the recorded pace, corrected by what was measured since the last report of this attempt. */
function paceOf(snapshot: Snapshot, percent: number | undefined): number | undefined {
  const { lastReport } = snapshot.job.status ?? {}
  const pace = lastReport?.percentPerSecond
  const gained = (percent ?? 0) - (lastReport?.percent ?? Infinity)
  const seconds = (snapshot.observed.now - (millis(lastReport?.time) ?? Infinity)) / 1000
  if (isResumed(snapshot) || seconds < 1 || gained <= 0) return pace
  const measured = gained / seconds
  if (pace === undefined) return precise(measured)
  const weight = Math.max(MIN_WEIGHT, seconds / (seconds + SMOOTHING_SECONDS))
  return precise(pace * (1 - weight) + measured * weight)
}

const precise = (pace: number): number => Number(pace.toPrecision(DIGITS))

/** The estimate of the training code, if it sends one; else at the current pace. */
function completionOf(
  { remainingSeconds, receivedAt }: LatestReport,
  percent: number | undefined,
  pace: number | undefined,
): string | undefined {
  const atPace = percent !== undefined && pace !== undefined && pace > 0 ? (100 - percent) / pace : undefined
  const seconds = remainingSeconds ?? atPace
  if (seconds === undefined || seconds > MAX_REMAINING_SECONDS) return undefined
  return timestamp(receivedAt + seconds * 1000)
}

/** Whether a report changes nothing but times and estimates. */
function isSame(known: Progress, next: Progress): boolean {
  const values = (progress: Progress): object => {
    const { attempt, source, percent, progressTime } = progress.lastReport ?? {}
    return { ...progressFields(progress), lastReport: { attempt, source, percent, progressTime } }
  }
  return sameJson(values(known), values(next))
}

/** At most the whole interval, also if the recorded time is that of a clock that runs ahead. */
function untilDue({ job, observed }: Snapshot, next: Progress): number {
  const { lastReport, currentEpoch } = job.status ?? {}
  if (!lastReport || lastReport.attempt !== next.lastReport?.attempt) return 0
  const interval = next.currentEpoch === currentEpoch ? WRITE_MS : EPOCH_MS
  return Math.min(interval, (millis(lastReport.time) ?? 0) + interval - observed.now)
}
