/** Events of a schedule, with the reasons of a CronJob's. Each says what happened, why, and what comes next. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { EventNote } from '../../decision/plan.ts'
import { timestamp } from '../time.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

const nameOf = ({ metadata }: TrainingJob): string => `TrainingJob ${metadata.name}`

export const created = (run: TrainingJob, time: number): EventNote =>
  normal('SuccessfulCreate', 'Create', `Created ${nameOf(run)} for ${timestamp(time)}`)

export const deleted = (run: TrainingJob, why: string): EventNote =>
  normal('SuccessfulDelete', 'Delete', `Deleted ${nameOf(run)}: ${why}`)

export const completed = (run: TrainingJob): EventNote =>
  run.status?.state === 'Failed'
    ? warning('SawCompletedJob', 'Observe', `${nameOf(run)} failed; see its status.reason`)
    : normal('SawCompletedJob', 'Observe', `${nameOf(run)} completed`)

export const wentMissing = (name: string): EventNote =>
  normal('MissingJob', 'Observe', `TrainingJob ${name} was deleted before it ended; its time is not run again`)

export const tooManyMissed = (most: number, time: number): EventNote =>
  warning(
    'TooManyMissedTimes',
    'Start',
    `More than ${most} runs were missed; starting only the latest, of ${timestamp(time)}. ` +
      'Set or lower spec.startingDeadlineSeconds, and check the clock of the operator',
  )

export const superseded = (time: number, next: number): EventNote =>
  warning(
    'MissSchedule',
    'Start',
    `The run of ${timestamp(time)} was missed: it could not start before ${timestamp(next)}, which starts instead`,
  )

export const notOnTime = (reason: string, message: string): EventNote => warning(reason, 'Start', message)
