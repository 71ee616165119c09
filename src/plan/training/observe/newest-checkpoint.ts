/** The newest complete checkpoint of a job that the operator knows of. */
import { millis } from '../../time.ts'
import type { TrainingObserved } from './observed.ts'

export interface NewestCheckpoint {
  /** When the operator learned of it, in milliseconds since the epoch. */
  readonly at: number
  readonly step?: number
}

/** A pod reports a checkpoint when it is complete. Of a job that reports them, the newest is recorded too. */
export function newestCheckpoint({ reports = [], job }: TrainingObserved): NewestCheckpoint | undefined {
  const { time, step, intervalSeconds } = job.status?.checkpoint ?? {}
  const at = intervalSeconds === undefined ? undefined : millis(time)
  const recorded = at === undefined ? [] : [{ at, ...(step !== undefined && { step }) }]
  const reported = reports.flatMap(({ report: { checkpoint } }): NewestCheckpoint[] =>
    checkpoint?.reportedAt === undefined
      ? []
      : [{ at: checkpoint.reportedAt, ...(checkpoint.step !== undefined && { step: checkpoint.step }) }],
  )
  return [...recorded, ...reported].toSorted((one, other) => one.at - other.at).at(-1)
}
