/**
 * Whether a running job makes progress, for `spec.stall`. The duration is measured by a clock that does not jump. It begins with
 * the recorded time of the last progress, so that a restart of the operator neither restarts nor shortens the timeout; but
 * what the pods did while no operator ran is known only after they could report it.
 */
import { getCondition, isTrue } from '../../../api/conditions.ts'
import type { StallPolicy } from '../../../api/training-stall.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { formatDuration, millis } from '../../time.ts'
import { WORKER } from '../names.ts'
import { STALLED, SUMMARY_CONDITION } from '../report/conditions.ts'
import { nameOf } from '../report/wording.ts'
import { attemptOf } from './attempt.ts'
import { gangReports, positionOf, type RankReport, rounded } from './latest-report.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import { type Snapshot, snapshotOf } from './snapshot.ts'

/** After a restart of the operator, pods have this time to report, unless the timeout is shorter. */
const LEAST_WATCH_MS = 120_000

export interface ProgressMark {
  /** Changes with any progress of the attempt. */
  readonly mark: string
  /** Time since the recorded progress by the wall clock: all that is known when a process begins to observe the job. */
  readonly recordedMs: number
}

/** Undefined unless the job has a timeout and all its pods run. */
export function progressMark(observed: TrainingObserved): ProgressMark | undefined {
  const { job, now } = observed
  const readiness = getCondition(job.status?.conditions, SUMMARY_CONDITION)
  if (job.spec.stall === undefined || readiness?.status !== 'True') return undefined
  const snapshot = snapshotOf(observed)
  if (!isRunning(snapshot)) return undefined
  const since = Math.max(millis(readiness.lastTransitionTime) ?? now, recordedProgress(job) ?? -Infinity)
  const mark = [snapshot.attempt.number, ...positionIn(snapshot), ...savedIn(snapshot)]
  return { mark: JSON.stringify(mark), recordedMs: Math.max(0, now - since) }
}

const isRunning = ({ job, gang, replicas }: Snapshot): boolean =>
  job.status?.state === 'Running' &&
  gang.length === replicas.length &&
  gang.every(({ phase }) => phase === 'Running' || phase === 'Succeeded')

/** Of this attempt. */
function recordedProgress(job: TrainingJob): number | undefined {
  const { lastReport } = job.status ?? {}
  return lastReport?.attempt === attemptOf(job).number ? millis(lastReport.progressTime) : undefined
}

/** Epoch, step and percentage: the highest that is recorded or reported, so that both before and after a restart it is the same. */
function positionIn({ job, attempt, observed, gang }: Snapshot): (number | null)[] {
  const { currentEpoch, step, lastReport } = job.status ?? {}
  const recorded = lastReport?.attempt === attempt.number ? [[currentEpoch, step, lastReport.percent]] : []
  const reported = gangReports(observed, gang).map(({ progress: { report } }) => positionOf(report, job))
  return [0, 1, 2].map((index) => {
    const values = [...recorded, ...reported].flatMap((position) => position[index] ?? [])
    return values.length > 0 ? rounded(Math.max(...values)) : null
  })
}

function savedIn({ observed, gang }: Snapshot): string[] {
  const saved = gangReports(observed, gang).flatMap(({ progress: { report } }) => report.checkpoint ?? [])
  return saved.map(({ path, step }) => `${path}:${step ?? ''}`).toSorted()
}

export interface Stall {
  readonly action: StallPolicy['action']
  /** The member that is behind the others, if several report, else the first. */
  readonly member: Member
  readonly message: string
}

/** Undefined while the job makes progress, or is not known to make none. */
export function stallOf({ job, observed, gang }: Snapshot): Stall | undefined {
  const { stall } = job.spec
  const { stillness } = observed
  const [first] = gang.filter(({ role }) => role === WORKER).toSorted((one, other) => one.index - other.index)
  if (!stall || !stillness || !first || untilStalled(observed) !== 0) return undefined
  const behind = rankBehind(gangReports(observed, gang), job)
  const hint = behind ? `; ${nameOf(behind.member)} is behind at ${describe(behind, job)}` : ''
  const timeout = `${formatDuration(stall.timeoutSeconds * 1000)} (stall.timeoutSeconds)`
  return {
    action: stall.action,
    member: behind?.member ?? first,
    message: `No progress for ${timeout} at ${recordedPosition(job)}${hint}`,
  }
}

/** Milliseconds until the job is stalled if it makes no progress; undefined if that is not observed. */
export function untilStalled({ job, stillness }: TrainingObserved): number | undefined {
  const { stall } = job.spec
  if (!stall || !stillness) return undefined
  const timeout = stall.timeoutSeconds * 1000
  const watch = isTrue(job.status?.conditions, STALLED) ? 0 : Math.min(timeout, LEAST_WATCH_MS)
  return Math.max(0, timeout - stillness.unchangedMs, watch - stillness.watchedMs)
}

/** The rank with the least progress, if it has less than another one. */
function rankBehind(reports: readonly RankReport[], job: TrainingJob): RankReport | undefined {
  const placed = reports
    .flatMap((one) => (one.member.role === WORKER ? [{ one, place: placeOf(one, job) }] : []))
    .filter(({ place }) => place !== undefined)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
  const [least] = placed
  return least && least.place !== placed.at(-1)?.place ? least.one : undefined
}

function placeOf({ progress: { report } }: RankReport, job: TrainingJob): number | undefined {
  const [epoch, step, percent] = positionOf(report, job)
  return step ?? percent ?? epoch
}

function describe({ progress: { report } }: RankReport, job: TrainingJob): string {
  const [epoch, step, percent] = positionOf(report, job)
  return named({ epoch, step, percent })
}

function recordedPosition({ status }: TrainingJob): string {
  const { currentEpoch, step, lastReport } = status ?? {}
  return named({ epoch: currentEpoch, step, percent: lastReport?.percent })
}

interface Position {
  readonly epoch: number | undefined
  readonly step: number | undefined
  readonly percent: number | undefined
}

function named({ epoch, step, percent }: Position): string {
  if (step !== undefined) return `step ${step}`
  if (epoch !== undefined) return `epoch ${epoch}`
  return percent === undefined ? 'the start: nothing was reported' : `${Math.floor(percent)} %`
}
