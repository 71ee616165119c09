/**
 * The decisions on a TrainingSchedule. Pure.
 *
 * A run is decided, recorded and created in this order: `pendingScheduleTime` names it before its TrainingJob is created;
 * the plan that creates it also records it as started. So a crash between any two writes neither loses nor repeats it: the
 * next pass finds either the recorded time, or the TrainingJob, whose name follows from the time.
 *
 * Each step either returns a plan or leaves the schedule to the next one.
 */
import { getCondition } from '../../api/conditions.ts'
import { type EventNote, type Plan, toDelete, toWrite } from '../../decision/plan.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Trouble } from '../pod-trouble.ts'
import { recordRejection } from '../rejection.ts'
import { earliest } from '../requeue.ts'
import { millis } from '../time.ts'
import { READY } from './conditions.ts'
import { created, deleted, superseded, tooManyMissed } from './events.ts'
import { MAX_MISSED, type ScheduleObserved } from './observed.ts'
import { runOf } from './run.ts'
import { deadlineOf, isBlocked, isLate, type Situation, situationOf } from './situation.ts'
import { changesOf, type Decision, endOf, type PlannedStatus, statusOf } from './status.ts'

export type SchedulePlan = Plan<PlannedStatus>

type Step = (situation: Situation) => SchedulePlan | undefined

export function planSchedule(observed: ScheduleObserved): SchedulePlan {
  const situation = situationOf(observed)
  for (const step of steps) {
    const plan = step(situation)
    if (plan) return plan
  }
  return decided(situation, {})
}

/** The plan after a write that cannot succeed until a person acts. It records why; the caller retries. */
export function planScheduleRejection(observed: ScheduleObserved, trouble: Trouble): SchedulePlan {
  const situation = situationOf(observed)
  const known = getCondition(observed.schedule.status?.conditions, READY)
  const { rejection, events } = recordRejection(known, trouble)
  const plan = decided(situation, { rejection })
  return { ...plan, events: [...plan.events, ...events] }
}

/** The pending run exists, or was deleted before it was recorded: it is started. */
const recordStarted: Step = (situation) => {
  const { pending, started, observed } = situation
  if (pending === undefined || (!started && !observed.isPendingGone)) return undefined
  return decided(situation, { pending: null, last: pending })
}

/** A pending run that is not created is given up while the schedule is suspended, if it is too late, and for a later one. */
const giveUp: Step = (situation) => {
  const { pending, times, observed } = situation
  if (pending === undefined) return undefined
  const { spec } = observed.schedule
  if (times.due !== undefined && times.due > pending) {
    const plan = decided(situation, { pending: times.due })
    return { ...plan, events: [...plan.events, superseded(pending, times.due)] }
  }
  // With Replace, the run before may be deleted already: then a late run is better than none.
  const isMissed = spec.concurrencyPolicy !== 'Replace' && isLate(observed, pending)
  return spec.suspend || isMissed ? decided(situation, { pending: null }) : undefined
}

/** Replace: the runs before are deleted, and are gone before the pending run is created. */
const makeRoom: Step = (situation) => {
  const { pending, active, observed } = situation
  if (pending === undefined || observed.taken || observed.schedule.spec.concurrencyPolicy !== 'Replace')
    return undefined
  const due = active.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return due.length === 0 ? undefined : removed(situation, due, 'spec.concurrencyPolicy is Replace')
}

const create: Step = (situation) => {
  const { pending, observed } = situation
  if (pending === undefined || observed.taken || isBlocked(situation)) return undefined
  const run = runOf(observed.schedule, pending)
  const plan = decided(situation, { pending: null, last: pending, created: run })
  return { ...plan, writes: toWrite('create', [run]), events: [...plan.events, created(run, pending)] }
}

/** Decides to start the latest run that is due. Earlier ones are skipped. */
const decide: Step = (situation) => {
  const { pending, times, observed } = situation
  const { due, missed = 0 } = times
  if (pending !== undefined || due === undefined || isLate(observed, due)) return undefined
  if (isBlocked(situation) && observed.schedule.spec.concurrencyPolicy === 'Forbid') return undefined
  const plan = decided(situation, { pending: due })
  return missed > MAX_MISSED ? { ...plan, events: [...plan.events, tooManyMissed(MAX_MISSED, due)] } : plan
}

/** Deletes ended runs beyond the limits, oldest first, after their end is recorded. */
const prune: Step = (situation) => {
  const { finished, observed } = situation
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = observed.schedule.spec
  const recorded = finished.filter((run) => isRecorded(situation, run))
  const isFailed = ({ status }: TrainingJob): boolean => status?.state === 'Failed'
  const surplus = [
    ...beyond(
      recorded.filter((run) => !isFailed(run)),
      successfulJobsHistoryLimit,
    ),
    ...beyond(recorded.filter(isFailed), failedJobsHistoryLimit),
  ].filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return surplus.length === 0 ? undefined : removed(situation, surplus, 'the history has reached its limit')
}

const beyond = (runs: readonly TrainingJob[], limit: number): readonly TrainingJob[] =>
  runs.slice(0, Math.max(0, runs.length - limit))

function isRecorded({ observed }: Situation, run: TrainingJob): boolean {
  const { active = [], lastSuccessfulTime } = observed.schedule.status ?? {}
  if (active.some(({ name }) => name === run.metadata.name)) return false
  return run.status?.state === 'Failed' || endOf(run) <= (millis(lastSuccessfulTime) ?? 0)
}

const steps: readonly Step[] = [recordStarted, giveUp, makeRoom, create, decide, prune]

/** Records a decision, and everything that was observed. */
function decided(situation: Situation, decision: Decision): SchedulePlan {
  const again = wakeAfter(situation)
  return {
    writes: [],
    deletions: [],
    status: statusOf(situation, decision),
    events: changesOf(situation, decision),
    ...(again !== undefined && { requeueAfterMs: again }),
  }
}

/** Deletes runs. The status follows when they are gone. */
function removed(situation: Situation, runs: readonly TrainingJob[], why: string): SchedulePlan {
  const again = wakeAfter(situation)
  const events: EventNote[] = runs.slice(0, MOST_EVENTS).map((run) => deleted(run, why))
  const requeue = again === undefined ? {} : { requeueAfterMs: again }
  return { writes: [], deletions: toDelete('graceful', runs), events, ...requeue }
}

const MOST_EVENTS = 10

/** The next time of the schedule, or the end of the time that a waiting run has left. */
function wakeAfter({ observed, times, pending }: Situation): number | undefined {
  const { now } = observed
  const waiting = pending ?? times.due
  const deadline = waiting === undefined ? undefined : deadlineOf(observed, waiting)
  const isAhead = deadline !== undefined && deadline >= now
  return earliest(times.next === undefined ? undefined : times.next - now, isAhead ? deadline - now + 1 : undefined)
}
