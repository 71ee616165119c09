/** What is observed, sorted for decisions: the gang of the current attempt, and what is left of others. */
import { isTrue } from '../../api/conditions.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { type Attempt, attemptOf, type Seat, seatKey, seatsOf } from './attempt.ts'
import type { Engine } from './engine/contract.ts'
import { engineOf } from './engine/engine.ts'
import { isElasticTorch } from './environment/pytorch.ts'
import type { Member } from './member.ts'
import { podName, WORKER } from './names.ts'
import type { TrainingObserved } from './observed.ts'
import { isFinished } from './state.ts'

export interface Scene {
  readonly observed: TrainingObserved
  readonly job: TrainingJob
  readonly engine: Engine
  readonly attempt: Attempt
  readonly seats: readonly Seat[]
  /** Everybody who is there. */
  readonly all: readonly Member[]
  /** The gang of this attempt, those included whose success is on record although their pod is gone. */
  readonly gang: readonly Member[]
  /** Those of other attempts. */
  readonly stale: readonly Member[]
  /** Seats of this attempt that nobody has. */
  readonly empty: readonly Seat[]
}

export function sceneOf(observed: TrainingObserved): Scene {
  const { job } = observed
  const engine = engineOf(job.spec)
  const attempt = attemptOf(job)
  const all = engine.members(observed)
  const present = all.filter((member) => member.attempt === attempt.number)
  const seats = seatsOf(job, attempt)
  const gang = [...present, ...succeededBefore(job, attempt, present)]
  const taken = new Set(gang.map(seatKey))
  return {
    observed,
    job,
    engine,
    attempt,
    seats,
    all,
    gang,
    stale: all.filter((member) => member.attempt !== attempt.number),
    empty: seats.filter((seat) => !taken.has(seatKey(seat))),
  }
}

/** A worker that is done stays done, even if somebody tidies its pod away. */
function succeededBefore(job: TrainingJob, attempt: Attempt, present: readonly Member[]): Member[] {
  const there = new Set(present.filter(({ role }) => role === WORKER).map(({ index }) => index))
  const recorded = job.status?.workerStatuses ?? []
  return recorded
    .filter(({ workerId, phase }) => phase === 'Succeeded' && !there.has(workerId) && workerId < attempt.worldSize)
    .map(({ workerId, podName: name }) => ({
      role: WORKER,
      index: workerId,
      attempt: attempt.number,
      podName: name ?? podName(job, WORKER, workerId),
      phase: 'Succeeded',
    }))
}

/** Seats that were taken when the status was last written and are empty now. An elastic gang fills them again itself. */
export function lostSeats({ job, seats, empty }: Scene): readonly Seat[] {
  const { workers, roles = [], conditions } = job.status ?? {}
  const recorded = [workers ?? {}, ...roles].reduce((sum, count) => sum + total(count), 0)
  if (recorded < seats.length || isTrue(conditions, 'Conflict')) return []
  return isElasticTorch(job.spec) ? empty.filter(({ index }) => index === 0) : empty
}

/** Whether somebody seems to be lost, who may only not be seen: worth a second look. */
export function missesMembers(observed: TrainingObserved): boolean {
  const { job } = observed
  return !isFinished(job) && job.status?.state !== 'Suspending' && lostSeats(sceneOf(observed)).length > 0
}

interface Counts {
  readonly active?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly pending?: number
}

const total = ({ active = 0, succeeded = 0, failed = 0, pending = 0 }: Counts): number =>
  active + succeeded + failed + pending
