/**
 * Every read of one pass over a TrainingSchedule. All reads are from caches, except for a run that the status lists as
 * active and the cache does not have: the caches of two kinds can lag by different amounts, and with `Forbid` and `Replace`
 * no run may start beside it.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { TrainingSchedule } from '../api/trainingschedule.v1.ts'
import { controllerOf } from '../kube/object.ts'
import { runName, type ScheduleObserved, type Timing } from '../plan/schedule/index.ts'
import type { Cache } from '../runtime/index.ts'
import type { GoneRuns } from './gone-runs.ts'
import { timesOf } from './schedule-times.ts'

/** The job from the API server; undefined if there is none. */
export type ReadJob = (name: string) => Promise<TrainingJob | undefined>

export interface GatherScheduleDeps {
  readonly jobs: Cache<TrainingJob>
  readonly gone: GoneRuns
  readonly now: number
  readonly readJob: ReadJob
}

export async function gatherSchedule(schedule: TrainingSchedule, deps: GatherScheduleDeps): Promise<ScheduleObserved> {
  const { jobs, gone, now } = deps
  const { uid = '', namespace = '' } = schedule.metadata
  const pending = Date.parse(schedule.status?.pendingScheduleTime ?? '')
  const name = Number.isNaN(pending) ? undefined : runName(schedule, pending)
  const named = name === undefined ? undefined : jobs.get({ namespace, name })
  const isForeign = named !== undefined && !isRunOf(schedule, named)
  return {
    schedule,
    now,
    timing: timingOf(schedule, now),
    runs: await runsOf(schedule, deps),
    isPendingGone: name !== undefined && named === undefined && gone.has(uid, name),
    ...(isForeign && { taken: named }),
  }
}

const isRunOf = ({ metadata }: TrainingSchedule, job: TrainingJob): boolean =>
  job.metadata.namespace === metadata.namespace && controllerOf(job)?.uid === metadata.uid

function timingOf({ spec, status, metadata }: TrainingSchedule, now: number): Timing {
  const { schedule, timeZone, startingDeadlineSeconds } = spec
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  return timesOf({ schedule, timeZone, now, since, startingDeadlineSeconds })
}

async function runsOf(schedule: TrainingSchedule, { jobs, gone, readJob }: GatherScheduleDeps): Promise<TrainingJob[]> {
  const { uid = '' } = schedule.metadata
  const cached = jobs.ownedBy(uid).filter((job) => isRunOf(schedule, job))
  const known = new Set(cached.map(({ metadata }) => metadata.name))
  const absent = (schedule.status?.active ?? []).filter(({ name }) => !known.has(name) && !gone.has(uid, name))
  const read = await Promise.all(absent.map(({ name }) => readJob(name)))
  return [...cached, ...read.filter((job) => job !== undefined && isRunOf(schedule, job))] as TrainingJob[]
}
