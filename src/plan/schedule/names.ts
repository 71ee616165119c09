/** Names, labels and annotations of the runs of a schedule. All are contracts with users and tools. */
import type { TrainingSchedule } from '../../api/trainingschedule.v1.ts'
import type { KubeObject } from '../../kube/object.ts'

/** On every run: the name of its schedule. */
export const SCHEDULE_LABEL = 'trainingschedule'
/** On every run: the time that it was scheduled for. */
export const TIME_ANNOTATION = 'trainingschedule.ml.example.com/scheduled-time'

const MINUTE_MS = 60_000

/** One name for one scheduled time, so that a run cannot be created twice: `{name}-{minutes since the epoch}`. */
export const runName = ({ metadata: { name } }: TrainingSchedule, time: number): string =>
  `${name}-${Math.floor(time / MINUTE_MS)}`

/** The scheduled time of a run, from its name. Other objects that the schedule controls count by their creation. */
export function scheduledTime({ metadata: { name, creationTimestamp = '' } }: KubeObject): number {
  const minutes = /-(\d{1,9})$/.exec(name)?.[1]
  return minutes === undefined ? Date.parse(creationTimestamp) || 0 : Number(minutes) * MINUTE_MS
}

/** The schedule that an object is named after, if it has the name of a run. */
export const scheduleNameOf = (run: string): string | undefined => /^(.+)-\d{1,9}$/.exec(run)?.[1]
