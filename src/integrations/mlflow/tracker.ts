/**
 * Keeps MLflow in step with the jobs, beside the controllers: they say what a run should have and read what MLflow has, and
 * never wait for it. A job that cannot be written is tried again with backoff; one job does not delay the others.
 */
import { sameJson } from '../../api/json.ts'
import type { ProgressReport } from '../../api/training-report.ts'
import type { TrackedRun, TrackingProgress } from '../../api/training-tracking.ts'
import type { ObjectKey } from '../../kube/object.ts'
import { PointBuffer } from './point-buffer.ts'
import { RunWriter, type WriterDeps } from './run-writer.ts'

export interface TrackerClock {
  now(): number
  setTimeout(callback: () => void, ms: number): () => void
}

export interface TrackerDeps extends Omit<WriterDeps, 'points'> {
  readonly clock: TrackerClock
  readonly points?: PointBuffer
  /** Delay of metrics, so that they are sent together. */
  readonly flushMs?: number
  readonly retryMs?: number
}

/** Jobs that are written at the same time. */
const CONCURRENCY = 4
const MAX_RETRY_MS = 60_000
const MAX_JOBS = 10_000
/** How long the end of a deleted job is tried. */
const KILLED_MS = 3_600_000

interface Job {
  run: TrackedRun
  readonly writer: RunWriter
  problem?: string
  failures: number
  isBusy: boolean
  cancel?: () => void
  killedAt?: number
}

export class Tracker {
  readonly #deps: TrackerDeps
  readonly #points: PointBuffer
  readonly #jobs = new Map<string, Job>()
  readonly #waiting = new Set<Job>()
  #busy = 0
  #isClosed = false
  #wake: (key: ObjectKey) => void = () => undefined

  constructor(deps: TrackerDeps) {
    this.#deps = deps
    this.#points = deps.points ?? new PointBuffer()
  }

  /** Points in memory, and those that were dropped. */
  get points(): Pick<PointBuffer, 'size' | 'dropped'> {
    return this.#points
  }

  /** `wake` is called with a job whose progress has changed. */
  onProgress(wake: (key: ObjectKey) => void): void {
    this.#wake = wake
  }

  /** What the run of a job should have; undefined if nothing is left to write. */
  follow(uid: string, run: TrackedRun | undefined): void {
    const known = this.#jobs.get(uid)
    if (!run) return this.#forget(uid)
    if (!known) return this.#begin(uid, run)
    const isSame = sameJson({ ...known.run, runId: '' }, { ...run, runId: '' })
    known.run = run
    if (!isSame) this.#schedule(known, run.status === 'RUNNING' ? this.#flushMs : 0)
  }

  /** What MLflow has of a job, as far as this process has seen. */
  of(uid: string): TrackingProgress {
    const job = this.#jobs.get(uid)
    if (!job) return {}
    return { ...job.writer.progress, ...(job.problem !== undefined && { problem: job.problem }) }
  }

  /** The metrics of a report. Those of jobs that are not followed are ignored. */
  note(uid: string, report: ProgressReport): void {
    const job = this.#jobs.get(uid)
    if (!job) return
    this.#points.add(uid, report, report.time ?? this.#deps.clock.now())
    this.#schedule(job, this.#flushMs)
  }

  close(): void {
    this.#isClosed = true
    for (const uid of this.#jobs.keys()) this.#forget(uid)
  }

  get #flushMs(): number {
    return this.#deps.flushMs ?? 2_000
  }

  #begin(uid: string, run: TrackedRun): void {
    if (this.#isClosed || this.#jobs.size >= MAX_JOBS) return
    const job: Job = { run, writer: new RunWriter({ ...this.#deps, points: this.#points }), failures: 0, isBusy: false }
    this.#jobs.set(uid, job)
    this.#schedule(job, 0)
  }

  #forget(uid: string): void {
    const job = this.#jobs.get(uid)
    if (!job) return
    job.cancel?.()
    this.#waiting.delete(job)
    this.#jobs.delete(uid)
    this.#points.forget(uid)
  }

  /** A job that waits already waits no longer, and one that failed waits for its retry. */
  #schedule(job: Job, ms: number): void {
    if (job.cancel && (ms > 0 || job.failures > 0)) return
    job.cancel?.()
    job.cancel = this.#deps.clock.setTimeout(() => {
      delete job.cancel
      this.#waiting.add(job)
      this.#startNext()
    }, ms)
  }

  #startNext(): void {
    for (const job of this.#waiting) {
      if (this.#busy >= CONCURRENCY) return
      if (job.isBusy) continue
      this.#waiting.delete(job)
      this.#busy += 1
      job.isBusy = true
      void this.#advance(job).finally(() => {
        this.#busy -= 1
        job.isBusy = false
        this.#startNext()
      })
    }
  }

  async #advance(job: Job): Promise<void> {
    const { run } = job
    const before = this.of(run.uid)
    try {
      await job.writer.advance(run)
      job.failures = 0
      delete job.problem
    } catch (error) {
      job.failures += 1
      job.problem = `MLflow does not have everything: ${error instanceof Error ? error.message : String(error)}`.slice(
        0,
        512,
      )
    }
    if (this.#jobs.get(run.uid) !== job) return
    if (!sameJson(before, this.of(run.uid))) this.#wake({ namespace: run.namespace, name: run.name })
    this.#continue(job)
  }

  #continue(job: Job): void {
    const { uid, status } = job.run
    if (status === 'KILLED') job.killedAt ??= this.#deps.clock.now()
    const isLate = job.killedAt !== undefined && this.#deps.clock.now() - job.killedAt > KILLED_MS
    if (isLate || (status === 'KILLED' && job.failures === 0)) return this.#forget(uid)
    if (job.failures > 0)
      this.#schedule(job, Math.min(MAX_RETRY_MS, (this.#deps.retryMs ?? 1_000) * 2 ** Math.min(job.failures - 1, 16)))
    else if (job.writer.progress.runStatus !== status || this.#points.next(uid, 1).length > 0) this.#schedule(job, 0)
  }
}
