/** What was observed, prepared for decisions. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { millis } from '../time.ts'
import { isFinished } from '../training/index.ts'
import { runName, scheduledTime } from './names.ts'
import type { DueTimes, ScheduleObserved } from './observed.ts'

export interface Situation {
  readonly observed: ScheduleObserved
  /** Runs by scheduled time, oldest first. */
  readonly active: readonly TrainingJob[]
  readonly finished: readonly TrainingJob[]
  /** The recorded decision: the time of the run to start. */
  readonly pending?: number
  /** The run of the pending time, if it exists. */
  readonly started?: TrainingJob
  /** Empty while the schedule is suspended or invalid: then no run is due. */
  readonly times: Partial<DueTimes>
}

export function situationOf(observed: ScheduleObserved): Situation {
  const { schedule, runs, timing } = observed
  const sorted = runs.toSorted((one, other) => scheduledTime(one) - scheduledTime(other))
  const pending = millis(schedule.status?.pendingScheduleTime)
  const started = sorted.find(({ metadata }) => pending !== undefined && metadata.name === runName(schedule, pending))
  return {
    observed,
    active: sorted.filter((run) => !isFinished(run)),
    finished: sorted.filter(isFinished),
    ...(pending !== undefined && { pending }),
    ...(started && { started }),
    times: schedule.spec.suspend || 'invalid' in timing ? {} : timing,
  }
}

/** The time after which a run of this scheduled time is too late; undefined without a limit. */
export function deadlineOf({ schedule }: ScheduleObserved, time: number): number | undefined {
  const { startingDeadlineSeconds } = schedule.spec
  return startingDeadlineSeconds === undefined ? undefined : time + startingDeadlineSeconds * 1000
}

export function isLate(observed: ScheduleObserved, time: number): boolean {
  const deadline = deadlineOf(observed, time)
  return deadline !== undefined && deadline < observed.now
}

/** Earlier runs keep the next one from starting: those that have not ended. A run that is being deleted has pods, too. */
export const isBlocked = ({ observed, active }: Situation): boolean =>
  observed.schedule.spec.concurrencyPolicy !== 'Allow' && active.length > 0
