/** A simulated cluster with one TrainingSchedule. Plays the training controller: its runs start, end and are deleted. */
import { withDefaults } from '../../src/api/defaults.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import {
  type TrainingSchedule,
  type TrainingScheduleSpec,
  trainingScheduleV1,
} from '../../src/api/trainingschedule.v1.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import {
  type PlannedScheduleStatus,
  planSchedule,
  runName,
  type ScheduleObserved,
  type SchedulePlan,
} from '../../src/plan/schedule/index.ts'
import { isFinished } from '../../src/plan/training/index.ts'
import { timestamp } from '../../src/plan/time.ts'
import { timesOf } from '../../src/reconcile/schedule-times.ts'
import { SimulatedCluster, START } from './simulated-cluster.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export type ScheduleEdit = Partial<TrainingScheduleSpec>

const jobTemplate = { metadata: { labels: { team: 'a' } }, spec: { model: 'bert', dataset: 'wiki' } }

/** As the API server returns it: every hour, created half an hour after START. */
function scheduleOf(spec: object): TrainingSchedule {
  const whole = withDefaults(trainingScheduleV1.spec, { schedule: '0 * * * *', jobTemplate, ...spec })
  const creationTimestamp = timestamp(START + HOUR / 2)
  return {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingSchedule',
    metadata: { name: 'nightly', namespace: 'team-a', uid: 'uid-of-schedule', generation: 1, creationTimestamp },
    spec: whole as unknown as TrainingScheduleSpec,
  }
}

/** Writes are texts such as `create nightly-29455260`, `delete …` or `status`. */
export class ScheduleCluster extends SimulatedCluster<PlannedScheduleStatus, string> {
  schedule: TrainingSchedule
  runs: readonly TrainingJob[] = []
  /** An object of another owner with the name of a run. */
  foreign: KubeObject | undefined
  /** Runs that were deleted while they existed. */
  readonly gone = new Set<string>()
  readonly #planner: typeof planSchedule
  readonly #onWrite: (write: string, cluster: ScheduleCluster) => void

  constructor(spec: object = {}, { planner = planSchedule, onWrite = () => undefined }: ScheduleClusterOptions = {}) {
    super()
    this.now = START + HOUR / 2
    this.schedule = scheduleOf(spec)
    this.#planner = planner
    this.#onWrite = onWrite
  }

  get observed(): ScheduleObserved {
    const { schedule, now, runs, foreign } = this
    const { spec, status, metadata } = schedule
    const { startingDeadlineSeconds } = spec
    const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
    const pending = Date.parse(status?.pendingScheduleTime ?? '')
    const name = Number.isNaN(pending) ? undefined : runName(schedule, pending)
    return {
      schedule,
      now,
      timing: timesOf({ ...spec, now, since, startingDeadlineSeconds }),
      runs,
      isPendingGone: name !== undefined && this.gone.has(name) && !this.run(name),
      ...(foreign?.metadata.name === name && foreign && { taken: foreign }),
    }
  }

  get active(): readonly TrainingJob[] {
    return this.runs.filter((run) => !isFinished(run))
  }

  run(name: string): TrainingJob | undefined {
    return this.runs.find(({ metadata }) => metadata.name === name)
  }

  /** Plans and commits until there is nothing left to write. */
  settle(limit = 30): void {
    for (let pass = 1; pass <= limit; pass += 1) {
      const before = this.writes.length
      this.forget()
      this.pass()
      if (this.writes.length === before) return
    }
    throw new Error(`not settled after ${limit} passes: ${this.writes.slice(-10).join(', ')}`)
  }

  /** Time passes while the operator runs: it wakes when it asked to. */
  advance(ms: number): void {
    const until = this.now + ms
    while (this.now < until) {
      const wake = this.plan().requeueAfterMs ?? Infinity
      this.now = Math.min(until, this.now + Math.max(1, wake))
      this.settle()
    }
  }

  edit(spec: ScheduleEdit): void {
    const { metadata } = this.schedule
    const generation = (metadata.generation ?? 0) + 1
    this.schedule = {
      ...this.schedule,
      metadata: { ...metadata, generation },
      spec: { ...this.schedule.spec, ...spec },
    }
  }

  /** A run ends. */
  end(run: TrainingJob, state: 'Completed' | 'Failed'): void {
    this.#replace({ ...run, status: { ...run.status, state, completionTime: timestamp(this.now) } })
  }

  /** Deletes a run, as a user does. It is gone when its pods are. */
  terminate(run: TrainingJob): void {
    this.#replace({ ...run, metadata: { ...run.metadata, deletionTimestamp: timestamp(this.now) } })
  }

  /** Runs that are being deleted are gone. */
  forget(): void {
    const isGone = ({ metadata }: TrainingJob): boolean => metadata.deletionTimestamp !== undefined
    for (const { metadata } of this.runs.filter(isGone)) this.gone.add(metadata.name)
    this.runs = this.runs.filter((run) => !isGone(run))
  }

  #replace(run: TrainingJob): void {
    this.runs = this.runs.map((known) => (known.metadata.name === run.metadata.name ? run : known))
  }

  protected plan(): SchedulePlan {
    return this.#planner(this.observed)
  }

  protected override create(object: KubeObject): void {
    const { name } = object.metadata
    if (this.run(name)) return
    this.write(`create ${name}`, () => {
      this.runs = [...this.runs, { ...(object as TrainingJob), status: { state: 'Running' } }]
    })
  }

  protected prune(object: KubeObject): void {
    const run = this.run(object.metadata.name)
    if (run && run.metadata.deletionTimestamp === undefined)
      this.write(`delete ${run.metadata.name}`, () => this.terminate(run))
  }

  protected apply(): void {
    throw new Error('a schedule applies nothing')
  }

  protected afterWrite(write: string): void {
    this.#onWrite(write, this)
  }

  protected get stored(): TrainingSchedule {
    return this.schedule
  }

  protected set stored(schedule: KubeObject) {
    this.schedule = schedule as TrainingSchedule
  }

  protected get statusWrite(): string {
    return 'status'
  }
}

export interface ScheduleClusterOptions {
  readonly planner?: typeof planSchedule
  readonly onWrite?: (write: string, cluster: ScheduleCluster) => void
}

/** All times of a schedule after `from`, up to `to`. */
export function timesBetween(schedule: string, from: number, to: number): number[] {
  const times: number[] = []
  for (let now = from; ;) {
    const found = timesOf({ schedule, timeZone: 'UTC', since: now, now })
    if ('invalid' in found || found.next === undefined || found.next > to) return times
    now = found.next
    times.push(now)
  }
}
