import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScheduleCluster } from '../../test/sim/schedule-cluster.ts'
import { trainingJobs } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { TrainingSchedule } from '../api/trainingschedule.v1.ts'
import { runName } from '../plan/schedule/index.ts'
import { Cache, createLogger } from '../runtime/index.ts'
import { gatherSchedule } from './gather-schedule.ts'
import { GoneRuns } from './gone-runs.ts'

const { schedule, now } = new ScheduleCluster()
const { uid = '', namespace = '' } = schedule.metadata
const scheduleTime = '2026-01-01T01:00:00Z'
const name = runName(schedule, Date.parse(scheduleTime))
const pending: TrainingSchedule = { ...schedule, status: { pendingScheduleTime: scheduleTime } }
const listed: TrainingSchedule = { ...schedule, status: { active: [{ name, scheduleTime }] } }

function run(owner: string): TrainingJob {
  const controller = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingSchedule',
    name: 'x',
    uid: owner,
    controller: true,
  }
  const metadata = { name, namespace, uid: `uid-of-${owner}`, resourceVersion: '7', ownerReferences: [controller] }
  return { apiVersion: 'ml.example.com/v1', kind: 'TrainingJob', metadata, spec: {} } as unknown as TrainingJob
}

interface World {
  readonly cached?: TrainingJob
  readonly deleted?: TrainingJob
  readonly live?: TrainingJob
}

async function observe(of: TrainingSchedule, { cached, deleted, live }: World) {
  const jobs = new Cache<TrainingJob>({ resource: trainingJobs, log: createLogger({ level: 'silent' }) })
  const gone = new GoneRuns(jobs)
  await jobs.follow(async function* () {
    yield { type: 'replace', items: [cached ?? [], deleted ?? []].flat(), resourceVersion: '8' }
    if (deleted)
      yield { type: 'delete', object: { ...deleted, metadata: { ...deleted.metadata, resourceVersion: '9' } } }
  })
  const reads: string[] = []
  const readJob = (asked: string): Promise<TrainingJob | undefined> => {
    reads.push(asked)
    return Promise.resolve(live)
  }
  const { runs, isPendingGone, taken } = await gatherSchedule(of, { jobs, gone, now, readJob })
  return { runs: runs.length, isPendingGone, isTaken: taken !== undefined, reads: reads.length }
}

const cases: readonly (readonly [string, TrainingSchedule, World, Awaited<ReturnType<typeof observe>>])[] = [
  [
    'a run of the cache needs no read',
    listed,
    { cached: run(uid) },
    { runs: 1, isPendingGone: false, isTaken: false, reads: 0 },
  ],
  [
    'a listed run that the cache does not have is read',
    listed,
    { live: run(uid) },
    { runs: 1, isPendingGone: false, isTaken: false, reads: 1 },
  ],
  [
    'a listed run that the server does not have is gone',
    listed,
    {},
    { runs: 0, isPendingGone: false, isTaken: false, reads: 1 },
  ],
  [
    'a run whose deletion was seen needs no read',
    listed,
    { deleted: run(uid) },
    { runs: 0, isPendingGone: false, isTaken: false, reads: 0 },
  ],
  [
    'a pending run whose deletion was seen is gone',
    pending,
    { deleted: run(uid) },
    { runs: 0, isPendingGone: true, isTaken: false, reads: 0 },
  ],
  [
    'a deleted job of another owner does not count as the pending run',
    pending,
    { deleted: run('other') },
    { runs: 0, isPendingGone: false, isTaken: false, reads: 0 },
  ],
  [
    'a job of another owner has the name of the pending run',
    pending,
    { cached: run('other') },
    { runs: 0, isPendingGone: false, isTaken: true, reads: 0 },
  ],
]

for (const [what, of, world, expected] of cases)
  test(what, async () => assert.deepEqual(await observe(of, world), expected))
