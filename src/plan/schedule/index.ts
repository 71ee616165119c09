/** Schedules of training jobs: the only module that other folders import. */
export { runName, SCHEDULE_LABEL, scheduleNameOf, TIME_ANNOTATION } from './names.ts'
export { type DueTimes, MAX_MISSED, type ScheduleObserved, type Timing } from './observed.ts'
export { planSchedule, planScheduleRejection, type SchedulePlan } from './plan.ts'
export type { PlannedStatus as PlannedScheduleStatus } from './status.ts'
