/** TrainingSchedule v1: creates a TrainingJob at each time of a cron schedule. */

import { conditionsSchema } from './conditions.ts'
import { CRON, TIME_ZONE } from './cron.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import {
  cel,
  dateTime,
  flag,
  type Infer,
  int32,
  int64,
  listMap,
  mapOf,
  object,
  optional,
  strEnum,
  text,
} from './schema.ts'
import { templateSchema } from './template-schema.ts'
import { trainingJobV1 } from './trainingjob.v1.ts'

/** Of `status.active`. More runs than these are counted and not listed. */
export const MAX_LISTED_RUNS = 100

const jobTemplate = object(
  {
    metadata: optional(
      object(
        {
          labels: optional(
            mapOf(text({ description: 'Value of the label.', maxLength: 63, examples: ['team-a'] }), {
              description: 'Labels of the TrainingJobs.',
              maxProperties: 64,
              examples: [{ team: 'team-a' }],
            }),
          ),
          annotations: optional(
            mapOf(text({ description: 'Value of the annotation.', maxLength: 65_536, examples: ['nightly'] }), {
              description: 'Annotations of the TrainingJobs.',
              maxProperties: 64,
              examples: [{ 'example.com/purpose': 'nightly' }],
            }),
          ),
        },
        { description: 'Labels and annotations of the TrainingJobs.' },
      ),
    ),
    spec: templateSchema(trainingJobV1.spec),
  },
  {
    description: 'The TrainingJob to create at each scheduled time. A change applies to the runs that start after it.',
  },
)

const spec = object(
  {
    schedule: text({
      description:
        'When to train, as a cron expression: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, ' +
        '`@weekly`, `@monthly` or `@yearly`.',
      minLength: 1,
      maxLength: 128,
      examples: ['0 3 * * *'],
      rules: [
        cel(
          `self.matches('TZ=') || self.matches('''${CRON}''')`,
          'schedule must be a cron expression with five fields or one of @hourly, @daily, @weekly, @monthly and @yearly: write for example 0 3 * * *',
        ),
        cel(
          `!self.matches('TZ=')`,
          'schedule must not contain TZ or CRON_TZ: remove it and set timeZone to the name of the zone',
        ),
      ],
    }),
    timeZone: text({
      description: 'Time zone of the schedule, as a name of the IANA database.',
      minLength: 1,
      maxLength: 64,
      pattern: TIME_ZONE,
      default: 'UTC',
      examples: ['Europe/Berlin'],
    }),
    concurrencyPolicy: strEnum(['Forbid', 'Allow', 'Replace'], {
      description:
        'What happens at a scheduled time while an earlier run is active. Forbid: the run waits until the earlier one ends; ' +
        'Allow: both run; Replace: the earlier one is deleted first.',
      default: 'Forbid',
    }),
    suspend: flag({
      description: 'Starts no runs while it is true. Runs that are active continue.',
      default: false,
    }),
    startingDeadlineSeconds: optional(
      int64({
        description:
          'How late a run may start, in seconds. A run that is later is missed. If omitted, there is no limit: the latest ' +
          'missed run starts as soon as it can.',
        minimum: 1,
        maximum: 315_360_000,
        examples: [3600],
      }),
    ),
    successfulJobsHistoryLimit: int32({
      description: 'Number of completed TrainingJobs to keep.',
      minimum: 0,
      maximum: 1000,
      default: 3,
    }),
    failedJobsHistoryLimit: int32({
      description: 'Number of failed TrainingJobs to keep.',
      minimum: 0,
      maximum: 1000,
      default: 1,
    }),
    jobTemplate,
  },
  { description: 'Desired schedule and the job to run.' },
)

const run = object(
  {
    name: text({ description: 'Name of the TrainingJob.', maxLength: 63, examples: ['nightly-29706180'] }),
    scheduleTime: dateTime({ description: 'Time that the run was scheduled for.' }),
  },
  { description: 'A run that has not ended.' },
)

const status = object(
  {
    lastScheduleTime: optional(dateTime({ description: 'Scheduled time of the last run that was started.' })),
    lastSuccessfulTime: optional(dateTime({ description: 'Time when a run last completed.' })),
    nextScheduleTime: optional(
      dateTime({ description: 'Next time of the schedule. Absent while the schedule is suspended or invalid.' }),
    ),
    pendingScheduleTime: optional(
      dateTime({
        description:
          'Scheduled time of the run that is being started. Recorded before its TrainingJob is created, and removed after.',
      }),
    ),
    active: optional(
      listMap(run, ['name'], {
        description: 'The runs that have not ended, oldest first. The latest 100 if there are more.',
        maxItems: MAX_LISTED_RUNS,
      }),
    ),
    activeCount: optional(int32({ description: 'Number of runs that have not ended.', minimum: 0 })),
    observedGeneration: optional(
      int64({ description: 'Generation of the spec that the status is based on.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the schedule. Set by the operator.' },
)

export type TrainingScheduleSpec = Infer<typeof spec>
export type TrainingScheduleStatus = Infer<typeof status>
export type ScheduledRun = Infer<typeof run>
export type TrainingSchedule = CustomObject<TrainingScheduleSpec, TrainingScheduleStatus>

export const trainingScheduleV1 = {
  name: 'v1',
  storage: true,
  description: 'TrainingSchedule creates a TrainingJob at each time of a cron schedule.',
  spec,
  status,
  columns: [
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule', description: 'Cron expression.' },
    { name: 'Time zone', type: 'string', jsonPath: '.spec.timeZone', description: 'Time zone of the schedule.' },
    { name: 'Suspend', type: 'string', jsonPath: '.spec.suspend', description: 'Whether no runs are started.' },
    { name: 'Active', type: 'integer', jsonPath: '.status.activeCount', description: 'Runs that have not ended.' },
    { name: 'Last', type: 'date', jsonPath: '.status.lastScheduleTime', description: 'Time since the last run.' },
    { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleTime', description: 'Time of the next run.' },
    AGE,
  ],
} as const satisfies KindVersion
