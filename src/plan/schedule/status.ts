/** The status of a schedule, computed from what was observed and from what the plan decides. */
import { getCondition, type Verdict } from '../../api/conditions.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { MAX_LISTED_RUNS, type ScheduledRun, type TrainingScheduleStatus } from '../../api/trainingschedule.v1.ts'
import type { EventNote } from '../../decision/plan.ts'
import type { Trouble } from '../pod-trouble.ts'
import { millis, timestamp } from '../time.ts'
import { isFinished } from '../training/index.ts'
import { conditionsOf, delayOf, ON_SCHEDULE } from './conditions.ts'
import { completed, notOnTime, wentMissing } from './events.ts'
import { scheduledTime } from './names.ts'
import type { Situation } from './situation.ts'

export type PlannedStatus = Omit<TrainingScheduleStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

/** What a step decides. */
export interface Decision {
  /** The time of the run to start next; null: none. Undefined: as recorded. */
  readonly pending?: number | null
  /** The time of a run that is started, by this plan or before. */
  readonly last?: number
  /** A run that this plan creates. */
  readonly created?: TrainingJob
  readonly rejection?: Trouble
}

export function statusOf(situation: Situation, decision: Decision = {}): PlannedStatus {
  const { observed, active, times } = situation
  const { schedule } = observed
  const after = afterwards(situation, decision)
  const { pending } = after
  const running = decision.created ? [...active, decision.created] : active
  const last = latest(millis(schedule.status?.lastScheduleTime), decision.last)
  return {
    ...(last !== undefined && { lastScheduleTime: timestamp(last) }),
    ...lastSuccess(situation),
    ...(times.next !== undefined && { nextScheduleTime: timestamp(times.next) }),
    ...(pending !== undefined && { pendingScheduleTime: timestamp(pending) }),
    active: running.slice(-MAX_LISTED_RUNS).map(listed),
    activeCount: running.length,
    ...(schedule.metadata.generation !== undefined && { observedGeneration: schedule.metadata.generation }),
    conditions: conditionsOf(after, decision.rejection),
  }
}

/** The situation that the decision leads to. The time of a run that is started is not due any more. */
function afterwards({ pending: recorded, ...situation }: Situation, decision: Decision): Situation {
  const { last } = decision
  const { due, ...others } = situation.times
  const isStarted = last !== undefined && due !== undefined && due <= last
  const pending = decision.pending === undefined ? recorded : decision.pending
  return {
    ...situation,
    times: isStarted ? others : situation.times,
    ...(pending !== undefined && pending !== null && { pending }),
  }
}

const listed = (run: TrainingJob): ScheduledRun => ({
  name: run.metadata.name,
  scheduleTime: timestamp(scheduledTime(run)),
})

function lastSuccess({ observed, finished }: Situation): Pick<PlannedStatus, 'lastSuccessfulTime'> {
  const ends = finished.filter(({ status }) => status?.state === 'Completed').map(endOf)
  const time = latest(millis(observed.schedule.status?.lastSuccessfulTime), ...ends)
  return time === undefined ? {} : { lastSuccessfulTime: timestamp(time) }
}

export const endOf = ({ status }: TrainingJob): number => millis(status?.completionTime) ?? 0

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined && time > 0) as number[]
  return known.length === 0 ? undefined : Math.max(...known)
}

const MOST_EVENTS = 10

/** What has changed since the recorded status: runs that ended or are gone, and a run that is late. */
export function changesOf(situation: Situation, decision: Decision): EventNote[] {
  const { runs, schedule } = situation.observed
  const recorded = schedule.status?.active ?? []
  const ended = recorded.flatMap(({ name }) => {
    const run = runs.find(({ metadata }) => metadata.name === name)
    if (!run) return [wentMissing(name)]
    return isFinished(run) ? [completed(run)] : []
  })
  const after = afterwards(situation, decision)
  const delay = after.pending === undefined ? delayOf(after) : undefined
  const known = getCondition(schedule.status?.conditions, ON_SCHEDULE)
  const isKnown = known?.reason === delay?.reason && known?.message === delay?.message
  return [...ended.slice(0, MOST_EVENTS), ...(delay && !isKnown ? [notOnTime(delay.reason, delay.message)] : [])]
}
