/**
 * The runs of schedules that were deleted while this process watched. A run that is gone before its start was recorded
 * must not be created again.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { controllerOf } from '../kube/object.ts'
import type { Cache } from '../runtime/index.ts'

const MOST_KNOWN = 10_000

export class GoneRuns {
  readonly #known = new Set<string>()

  constructor(jobs: Cache<TrainingJob>) {
    jobs.onChange((event) => {
      if (event.type === 'delete') this.#note(event.object)
    })
  }

  /** Whether a TrainingJob of this name that the owner controlled was deleted. */
  has(ownerUid: string, name: string): boolean {
    return this.#known.has(`${ownerUid}/${name}`)
  }

  #note(job: TrainingJob): void {
    const owner = controllerOf(job)
    if (owner?.kind !== 'TrainingSchedule') return
    this.#known.add(`${owner.uid}/${job.metadata.name}`)
    const [oldest] = this.#known
    if (oldest !== undefined && this.#known.size > MOST_KNOWN) this.#known.delete(oldest)
  }
}
