/**
 * Metrics that MLflow does not have yet, in memory and bounded: for each job and in total. What does not fit is dropped, the
 * oldest point first. Each step of a metric is kept once: other ranks, and attempts that repeat a step, add nothing.
 */
import type { ProgressReport } from '../../api/training-report.ts'

export interface Point {
  readonly key: string
  readonly value: number
  readonly step: number
  /** In milliseconds since the epoch. */
  readonly timestamp: number
}

export interface BufferLimits {
  readonly maxPerJob: number
  readonly maxTotal: number
}

/** About 100 bytes each. */
const LIMITS: BufferLimits = { maxPerJob: 10_000, maxTotal: 200_000 }

/** The step of a metric that has none counts up with time. */
interface Last {
  readonly step: number
  readonly timestamp: number
}

interface Job {
  points: Point[]
  readonly last: Map<string, Last>
}

export class PointBuffer {
  readonly #limits: BufferLimits
  readonly #jobs = new Map<string, Job>()
  /** Points without a step. A later time makes them new; the same step at a later time is a repeated report. */
  readonly #timed = new WeakSet<Point>()
  #total = 0
  #dropped = 0

  constructor(limits: BufferLimits = LIMITS) {
    this.#limits = limits
  }

  /** Points in memory. */
  get size(): number {
    return this.#total
  }

  /** Points that did not fit, or that MLflow rejected. */
  get dropped(): number {
    return this.#dropped
  }

  add(uid: string, report: ProgressReport, timestamp: number): void {
    const step = report.step ?? report.epoch
    for (const [name, value] of Object.entries(report.metrics ?? {}))
      this.#addPoint(uid, { key: metricName(name), value, step: step ?? 0, timestamp }, step === undefined)
  }

  /** The oldest points of a job; they stay until they are `stored`. */
  next(uid: string, count: number): readonly Point[] {
    return this.#jobs.get(uid)?.points.slice(0, count) ?? []
  }

  stored(uid: string, points: readonly Point[]): void {
    this.#remove(uid, new Set(points))
  }

  rejected(uid: string, points: readonly Point[]): void {
    this.#dropped += this.#remove(uid, new Set(points))
  }

  /** MLflow has these: points up to their steps are removed, and later ones are not accepted. */
  known(uid: string, latest: readonly Point[]): void {
    const job = this.#jobOf(uid)
    for (const { key, step, timestamp } of latest) {
      const last = job.last.get(key)
      if (!last || last.step < step) job.last.set(key, { step, timestamp })
    }
    const steps = new Map(latest.map((point) => [point.key, point]))
    const isStored = (point: Point): boolean => {
      const known = steps.get(point.key)
      if (known === undefined) return false
      return this.#timed.has(point) ? point.timestamp <= known.timestamp : point.step <= known.step
    }
    this.#remove(uid, new Set(job.points.filter(isStored)))
  }

  forget(uid: string): void {
    this.#total -= this.#jobs.get(uid)?.points.length ?? 0
    this.#jobs.delete(uid)
  }

  #addPoint(uid: string, point: Point, isWithoutStep: boolean): void {
    const job = this.#jobOf(uid)
    const last = job.last.get(point.key)
    const isNew = !last || point.step > last.step || (isWithoutStep && point.timestamp > last.timestamp)
    if (!isNew || (!last && job.last.size >= MAX_KEYS)) return
    job.last.set(point.key, point)
    job.points.push(point)
    if (isWithoutStep) this.#timed.add(point)
    this.#total += 1
    if (job.points.length > this.#limits.maxPerJob) this.#drop(uid, job)
    if (this.#total > this.#limits.maxTotal) this.#dropFromLargest()
  }

  #drop(uid: string, job: Job): void {
    // A tenth at once: removing one point at a time would move the whole list for each new point.
    const count = Math.max(1, Math.floor(job.points.length / 10))
    this.rejected(uid, job.points.slice(0, count))
  }

  #dropFromLargest(): void {
    const [largest] = [...this.#jobs].toSorted(([, one], [, other]) => other.points.length - one.points.length)
    if (largest) this.#drop(...largest)
  }

  #remove(uid: string, gone: ReadonlySet<Point>): number {
    const job = this.#jobs.get(uid)
    if (!job || gone.size === 0) return 0
    const before = job.points.length
    job.points = job.points.filter((point) => !gone.has(point))
    const removed = before - job.points.length
    this.#total -= removed
    return removed
  }

  #jobOf(uid: string): Job {
    const job = this.#jobs.get(uid) ?? { points: [], last: new Map<string, Last>() }
    this.#jobs.set(uid, job)
    return job
  }
}

const MAX_KEYS = 256
const MAX_NAME = 250

/** MLflow allows these characters in the names of metrics and parameters. */
export function metricName(name: string): string {
  return name.replaceAll(/[^-_./ A-Za-z0-9]/g, '_').slice(0, MAX_NAME)
}
