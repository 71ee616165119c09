/**
 * The progress that pods have reported, in memory, by job. It is bounded in jobs, pods and metrics: what does not fit is
 * forgotten, the oldest first, and the status keeps its last values. A report wakes the controller of its job, at most once
 * a second for each job.
 */
import {
  MAX_METRICS,
  type PodProgress,
  type ProgressReport,
  type ReportedCheckpoint,
  reportSources,
  type ReportSource,
} from '../api/training-report.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { Clock } from '../runtime/index.ts'

export interface ReportStoreOptions {
  readonly clock: Clock
  readonly maxJobs?: number
  /** Of a job. */
  readonly maxPods?: number
  /** Of all jobs. */
  readonly maxReports?: number
  readonly wakeMs?: number
}

export interface ReportedJob {
  readonly key: ObjectKey
  readonly uid: string
}

export class ReportStore {
  readonly #options: Required<ReportStoreOptions>
  /** By uid of the job and of the pod; the one that was used longest ago first. */
  readonly #jobs = new Map<string, Map<string, PodProgress>>()
  #reports = 0
  /** Why nothing can be read of a job. */
  readonly #problems = new Map<string, string>()
  readonly #waking = new Set<string>()
  #wake: (key: ObjectKey) => void = () => undefined
  #each: (jobUid: string, report: ProgressReport) => void = () => undefined

  constructor(options: ReportStoreOptions) {
    this.#options = { maxJobs: 4_096, maxPods: 64, maxReports: 16_384, wakeMs: 1_000, ...options }
  }

  get size(): number {
    return this.#jobs.size
  }

  of(jobUid: string): readonly PodProgress[] {
    return [...(this.#jobs.get(jobUid)?.values() ?? [])]
  }

  /** `wake` is called with the job of a new report. */
  onReport(wake: (key: ObjectKey) => void): void {
    this.#wake = wake
  }

  /** `each` is called with every report as it arrives, not merged with earlier ones. */
  onEach(each: (jobUid: string, report: ProgressReport) => void): void {
    this.#each = each
  }

  forget(jobUid: string): void {
    this.#remove(jobUid)
    this.#problems.delete(jobUid)
  }

  problemOf(jobUid: string): string | undefined {
    return this.#problems.get(jobUid)
  }

  setProblem(job: ReportedJob, reason: string | undefined): void {
    if (this.#problems.get(job.uid) === reason) return
    if (reason === undefined) this.#problems.delete(job.uid)
    else toEnd(this.#problems, job.uid, reason, this.#options.maxJobs)
    this.#wakeLater(job)
  }

  /** Whether a source before this one has spoken for the job. */
  isPreceded(jobUid: string, source: ReportSource): boolean {
    return this.of(jobUid).some((known) => rankOf(known.source) < rankOf(source))
  }

  /** Ignores a report that is older than the last one of the same pod, or of a source after another one that has spoken. */
  add(job: ReportedJob, podUid: string, report: ProgressReport, source: ReportSource = reportSources[0]): void {
    if (this.isPreceded(job.uid, source)) return
    const pods = this.#jobs.get(job.uid) ?? new Map<string, PodProgress>()
    const size = pods.size
    for (const [uid, known] of pods) if (rankOf(known.source) > rankOf(source)) pods.delete(uid)
    const before = pods.get(podUid)?.report
    const receivedAt = this.#options.clock.now()
    if (isOlder(report, before, receivedAt)) return
    const checkpoint = checkpointAfter(before?.checkpoint, report.checkpoint, receivedAt)
    const progress = { ...merged(before ?? {}, report), ...(checkpoint && { checkpoint }) }
    toEnd(pods, podUid, { podUid, source, receivedAt, report: progress }, this.#options.maxPods)
    this.#jobs.delete(job.uid)
    this.#jobs.set(job.uid, pods)
    this.#reports += pods.size - size
    this.#limit()
    this.#tell(job.uid, report, before, source)
    this.#wakeLater(job)
  }

  /** A log is read again from some lines before its end after each connection, so a source that is read may repeat itself. */
  #tell(jobUid: string, report: ProgressReport, before: ProgressReport | undefined, source: ReportSource): void {
    const isRepeated = source !== reportSources[0] && (report.step ?? Infinity) <= (before?.step ?? -1)
    const now = this.#options.clock.now()
    if (!isRepeated) this.#each(jobUid, { ...report, time: Math.min(report.time ?? now, now) })
  }

  /** Forgets the jobs whose last report is oldest, until the others fit. */
  #limit(): void {
    const { maxJobs, maxReports } = this.#options
    for (const [uid] of this.#jobs) {
      if (this.#jobs.size <= maxJobs && this.#reports <= maxReports) return
      this.#remove(uid)
    }
  }

  #remove(jobUid: string): void {
    this.#reports -= this.#jobs.get(jobUid)?.size ?? 0
    this.#jobs.delete(jobUid)
  }

  #wakeLater({ key, uid }: ReportedJob): void {
    if (this.#waking.has(uid)) return
    this.#waking.add(uid)
    this.#options.clock.setTimeout(() => {
      this.#waking.delete(uid)
      this.#wake(key)
    }, this.#options.wakeMs)
  }
}

/** By the clock of the pod. A time that is in the future now was that of a clock that has changed since, and orders nothing. */
function isOlder({ time }: ProgressReport, before: ProgressReport | undefined, now: number): boolean {
  return time !== undefined && before?.time !== undefined && before.time <= now && time < before.time
}

const rankOf = (source: ReportSource): number => reportSources.indexOf(source)

function toEnd<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}

/** A new position replaces the old one as a whole: a percentage of an earlier report would contradict it. */
function merged(before: ProgressReport, report: ProgressReport): ProgressReport {
  const { percent: _percent, remainingSeconds: _remaining, ...rest } = before
  const hasPosition = [report.percent, report.step, report.epoch].some((value) => value !== undefined)
  const metrics = mergedMetrics(before.metrics, report.metrics)
  return { ...(hasPosition ? rest : before), ...report, ...(metrics && { metrics }) }
}

/** A checkpoint that is reported again stays as old as it is. Without a step it is another one of the same name. */
function checkpointAfter(
  before: ReportedCheckpoint | undefined,
  given: ReportedCheckpoint | undefined,
  reportedAt: number,
): ReportedCheckpoint | undefined {
  if (!given) return before
  const isKnown = given.step !== undefined && before?.step === given.step && before.path === given.path
  return isKnown ? before : { ...given, reportedAt }
}

type Metrics = ProgressReport['metrics']

function mergedMetrics(before: Metrics, given: Metrics): Metrics {
  if (!before || !given) return given ?? before
  const all = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(given)) if (all.has(name) || all.size < MAX_METRICS) all.set(name, value)
  return Object.fromEntries(all)
}
