/**
 * Reads progress from the pods of running jobs, on the leader. For each job it runs the readers that are not preceded by a
 * source that speaks, and stops them with the pod.
 */
import type { ProgressTarget } from '../api/training-report.ts'
import type { Logger } from '../runtime/index.ts'
import type { ReportedJob, ReportStore } from './report-store.ts'
import type { ProgressReader } from './sources/contract.ts'

export interface FollowerOptions {
  readonly readers: readonly ProgressReader[]
  readonly store: Pick<ReportStore, 'add' | 'setProblem' | 'isPreceded'>
  readonly log: Pick<Logger, 'error'>
}

interface Followed {
  readonly id: string
  readonly running: Map<ProgressReader, AbortController>
}

export class Follower {
  readonly #options: FollowerOptions
  /** By uid of the job. */
  readonly #jobs = new Map<string, Followed>()

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** Number of jobs that are read. */
  get size(): number {
    return this.#jobs.size
  }

  /** Called with the pod to read from whenever it may have changed; undefined to stop. */
  follow(job: ReportedJob, target: ProgressTarget | undefined): void {
    const id = JSON.stringify(target)
    if (this.#jobs.get(job.uid)?.id !== id) this.stop(job.uid)
    if (!target) return
    const followed = this.#jobs.get(job.uid) ?? { id, running: new Map<ProgressReader, AbortController>() }
    this.#jobs.set(job.uid, followed)
    for (const reader of this.#options.readers) this.#update(job, target, reader, followed)
  }

  stop(jobUid: string): void {
    for (const running of this.#jobs.get(jobUid)?.running.values() ?? []) running.abort()
    this.#jobs.delete(jobUid)
  }

  close(): void {
    for (const uid of this.#jobs.keys()) this.stop(uid)
  }

  #update(job: ReportedJob, target: ProgressTarget, reader: ProgressReader, { running }: Followed): void {
    const isWanted = reader.canRead(target) && !this.#options.store.isPreceded(job.uid, reader.source)
    if (!isWanted) {
      running.get(reader)?.abort()
      running.delete(reader)
    } else if (!running.has(reader)) {
      const stop = new AbortController()
      running.set(reader, stop)
      void this.#read(job, target, reader, stop.signal)
    }
  }

  async #read(job: ReportedJob, target: ProgressTarget, reader: ProgressReader, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#options
    try {
      await reader.read(
        target,
        {
          report: (report) => store.add(job, target.pod.uid, report, reader.source),
          problem: (reason) => store.setProblem(job, reason),
        },
        signal,
      )
    } catch (error) {
      log.error({ err: error, ...job.key, source: reader.source }, 'a reader of progress has failed')
    }
  }
}
