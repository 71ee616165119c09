/**
 * The controller of TrainingSchedules: gather → plan → commit, for one schedule at a time. Nothing polls: a pass asks for
 * the next one at the next time of the schedule, and changes of its runs trigger others.
 */
import { trainingJobs, trainingSchedules } from '../api/kinds.ts'
import { isPaused } from '../api/paused.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { TrainingSchedule } from '../api/trainingschedule.v1.ts'
import { isNotFound } from '../kube/errors.ts'
import type { ObjectKey } from '../kube/object.ts'
import {
  planSchedule,
  planScheduleRejection,
  type PlannedScheduleStatus,
  scheduleNameOf,
  type SchedulePlan,
} from '../plan/schedule/index.ts'
import {
  type Cache,
  type Commit,
  committer,
  type Controller,
  type Manager,
  type ObjectChange,
  type ReconcileContext,
  type Result,
} from '../runtime/index.ts'
import { reportFailures } from './error-boundary.ts'
import { gatherSchedule, type ReadJob } from './gather-schedule.ts'
import { GoneRuns } from './gone-runs.ts'

export interface ScheduleOptions {
  /** One namespace or several instead of all. */
  readonly namespace?: string | readonly string[]
  readonly concurrency?: number
  /** Interval at which every schedule is reconciled without an event. After a jump of the clock, it notices a due run. */
  readonly resyncMs?: number
  /** Replaces the wall clock. */
  readonly now?: () => number
  /** Replaces the planner. */
  readonly planner?: typeof planSchedule
}

/** Fields of the status whose changes are logged. */
const HIGHLIGHTS = ['lastScheduleTime', 'activeCount'] as const satisfies readonly (keyof PlannedScheduleStatus)[]

interface Deps {
  readonly manager: Manager
  readonly jobs: Cache<TrainingJob>
  readonly gone: GoneRuns
  readonly commit: Commit
  readonly now: () => number
  readonly planner: typeof planSchedule
}

/** Uses the cache of TrainingJobs of the training controller, so that one has to be added first. */
export function addScheduleController(manager: Manager, options: ScheduleOptions = {}): Controller {
  const { namespace, concurrency, resyncMs, planner = planSchedule } = options
  const { recorder, clock, metrics, caches } = manager
  const schedules = caches.of(trainingSchedules, namespace === undefined ? {} : { namespace })
  const jobs = caches.of(trainingJobs)
  const commit = committer({ caches, recorder, clock, metrics, highlights: HIGHLIGHTS })
  const now = options.now ?? (() => clock.now())
  const deps: Deps = { manager, jobs, gone: new GoneRuns(jobs), commit, now, planner }
  return manager
    .controller('trainingschedule')
    .for(schedules)
    .owns(jobs, { when: lifeChanged })
    .watches(jobs, nameKeys, { when: ({ type }) => type === 'delete' })
    .reconcile((key, context) => reconcile(schedules.get(key), deps, context), {
      ...(concurrency !== undefined && { concurrency }),
      ...(resyncMs !== undefined && { resyncMs }),
    })
}

async function reconcile(
  schedule: TrainingSchedule | undefined,
  deps: Deps,
  context: ReconcileContext,
): Promise<Result> {
  if (!schedule || schedule.metadata.deletionTimestamp !== undefined || isPaused(schedule)) return {}
  const { recorder } = deps.manager
  const { jobs, gone } = deps
  const gather = () => gatherSchedule(schedule, { jobs, gone, now: deps.now(), readJob: liveJob(schedule, context) })
  const observed = await reportFailures(gather, { object: schedule, recorder })
  const commit = (plan: SchedulePlan) => deps.commit<PlannedScheduleStatus>(schedule, plan, context)
  return reportFailures(() => commit(deps.planner(observed)), {
    object: schedule,
    recorder,
    record: (rejection) => commit(planScheduleRejection(observed, rejection)),
  })
}

function liveJob({ metadata }: TrainingSchedule, { client, signal }: ReconcileContext): ReadJob {
  return async (name) => {
    const { namespace = '' } = metadata
    try {
      return await client.get(trainingJobs, { namespace, name }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      return undefined
    }
  }
}

/** A run appeared, ended, is being deleted, or is gone. Its progress is ignored. */
function lifeChanged(change: ObjectChange<TrainingJob>): boolean {
  if (change.type !== 'update') return true
  const { object, previous } = change
  return (
    object.status?.state !== previous.status?.state ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp ||
    object.metadata.ownerReferences?.length !== previous.metadata.ownerReferences?.length
  )
}

/** A name becomes free: the schedule that waits for it, if any, starts its run. */
function nameKeys({ metadata: { name, namespace } }: TrainingJob): ObjectKey[] {
  const schedule = scheduleNameOf(name)
  return schedule === undefined ? [] : [{ name: schedule, ...(namespace !== undefined && { namespace }) }]
}
