/** What a pass over a TrainingSchedule has read. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { TrainingSchedule } from '../../api/trainingschedule.v1.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Trouble } from '../pod-trouble.ts'

/** More missed times than these are not counted. */
export const MAX_MISSED = 100

/** Times of the schedule, in milliseconds since the epoch. */
export interface DueTimes {
  /** The latest time after the last run, or after the creation, that is not in the future. */
  readonly due?: number
  /** How many such times there are within `startingDeadlineSeconds`, counted up to one more than `MAX_MISSED`. */
  readonly missed: number
  /** The first time after both now and the last run. */
  readonly next?: number
}

/** The times, or why there are none. */
export type Timing = DueTimes | { readonly invalid: Trouble }

export interface ScheduleObserved {
  readonly schedule: TrainingSchedule
  readonly now: number
  readonly timing: Timing
  /** All TrainingJobs that the schedule controls. */
  readonly runs: readonly TrainingJob[]
  /** The TrainingJob of the pending run existed and was deleted. */
  readonly isPendingGone: boolean
  /** The object with the name of the pending run that the schedule does not control. */
  readonly taken?: KubeObject
}
