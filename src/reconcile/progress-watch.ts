/** Measures by the monotonic clock how long something observed of a job stays the same, such as its progress, so that a jump of the wall clock changes nothing. */
import type { ProgressMark, Stillness } from '../plan/training/index.ts'
import type { Clock } from '../runtime/index.ts'

interface Watched {
  readonly mark: string
  readonly since: number
  /** What was already recorded when this process began to observe the job. */
  readonly beforeMs: number
}

export class ProgressWatch {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By uid of the job. */
  readonly #jobs = new Map<string, Watched>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  get size(): number {
    return this.#jobs.size
  }

  /** `current`: undefined if the job is not to be watched now. */
  observe(jobUid: string, current: ProgressMark | undefined): Stillness | undefined {
    if (!current) {
      this.#jobs.delete(jobUid)
      return undefined
    }
    const now = this.#clock.monotonic()
    const known = this.#jobs.get(jobUid)
    const { mark, recordedMs } = current
    const watched = known?.mark === mark ? known : { mark, since: now, beforeMs: known ? 0 : recordedMs }
    this.#jobs.set(jobUid, watched)
    const watchedMs = now - watched.since
    return { unchangedMs: watchedMs + watched.beforeMs, watchedMs }
  }

  forget(jobUid: string): void {
    this.#jobs.delete(jobUid)
  }
}
