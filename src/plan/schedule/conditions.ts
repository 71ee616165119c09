/** The conditions of a schedule: whether it can start runs, and whether the latest run started on time. */
import type { Verdict } from '../../api/conditions.ts'
import { nameWithKind } from '../../kube/object.ts'
import type { Trouble } from '../pod-trouble.ts'
import { reasonWord } from '../reason-word.ts'
import { CONFLICT, conflictConditions } from '../rejection.ts'
import { timestamp } from '../time.ts'
import { isBlocked, isLate, type Situation } from './situation.ts'

export const READY = 'Ready'
export const ON_SCHEDULE = 'OnSchedule'

const MAX_MESSAGE = 4096

/** Why the schedule starts no runs; undefined if it does. */
export function troubleOf({ observed }: Situation): Trouble | undefined {
  const { schedule, timing, taken } = observed
  if ('invalid' in timing) return timing.invalid
  if (schedule.spec.suspend) return { reason: 'Suspended', message: 'Set spec.suspend to false to start runs again' }
  return taken && { reason: CONFLICT, message: conflictMessage(nameWithKind(taken)) }
}

const conflictMessage = (name: string): string =>
  `${name} already exists and is not controlled by this TrainingSchedule: delete or rename it`

/** Why the latest run has not started on time; undefined if it has, or if none was due. */
export function delayOf(situation: Situation): Trouble | undefined {
  const { observed, pending, times, active } = situation
  const time = pending ?? times.due
  if (time === undefined) return clockTrouble(situation)
  if (pending === undefined && isLate(observed, time))
    return { reason: 'MissSchedule', message: missed(situation, time) }
  if (!isBlocked(situation) || observed.schedule.spec.concurrencyPolicy === 'Replace') return undefined
  const names = active.map(({ metadata }) => metadata.name).slice(0, 3)
  const message =
    `The run of ${timestamp(time)} waits until ${names.join(', ')} ${active.length === 1 ? 'ends' : 'end'}: ` +
    'spec.concurrencyPolicy is Forbid'
  return { reason: 'JobAlreadyActive', message }
}

const missed = ({ observed }: Situation, time: number): string =>
  `The run of ${timestamp(time)} was missed: it could not start within spec.startingDeadlineSeconds ` +
  `(${observed.schedule.spec.startingDeadlineSeconds} s)`

/** After the clock has gone back, the times up to the last run are not run again. */
function clockTrouble({ observed }: Situation): Trouble | undefined {
  const { schedule, now } = observed
  const last = schedule.status?.lastScheduleTime
  if (last === undefined || Date.parse(last) <= now + CLOCK_TOLERANCE_MS) return undefined
  const message = `The last run was scheduled for ${last}, which is in the future: no run starts before. Check the clock of the operator`
  return { reason: 'ClockWentBack', message }
}

const CLOCK_TOLERANCE_MS = 60_000

/** `rejection`: why the API server did not accept a write of this pass. */
export function conditionsOf(situation: Situation, rejection?: Trouble): Verdict[] {
  const { generation } = situation.observed.schedule.metadata
  const trouble = rejection ?? troubleOf(situation)
  const delay = delayOf(situation)
  const verdict = (type: string, status: Verdict['status'], { reason, message }: Trouble): Verdict => ({
    type,
    status,
    reason: reasonWord(reason),
    message: message.slice(0, MAX_MESSAGE),
    ...(generation !== undefined && { observedGeneration: generation }),
  })
  return [
    trouble
      ? verdict(READY, 'False', trouble)
      : verdict(READY, 'True', { reason: 'Scheduled', message: 'Runs start at the times of spec.schedule' }),
    delay
      ? verdict(ON_SCHEDULE, 'False', delay)
      : verdict(ON_SCHEDULE, 'True', { reason: 'OnTime', message: 'No run is late' }),
    ...(trouble ? conflictConditions(trouble, generation) : []),
  ]
}
