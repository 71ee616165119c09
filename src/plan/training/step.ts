/** One step of a job's life: a plan, or nothing if it is not this step's turn. */
import type { EventNote, Plan } from '../plan.ts'
import { soonest } from '../plan.ts'
import type { Attempt } from './attempt.ts'
import { stuckOf } from './dead-nodes.ts'
import type { Change } from './engine/contract.ts'
import type { Member } from './member.ts'
import type { Scene } from './scene.ts'
import { type Facts, type PlannedStatus, statusOf } from './status.ts'

export type TrainingPlan = Plan<PlannedStatus>
export type Step = (scene: Scene) => TrainingPlan | undefined

export interface Doings extends Partial<Change>, Pick<TrainingPlan, 'keep' | 'create' | 'expired'> {
  readonly events?: readonly EventNote[]
  readonly requeueAfterMs?: number | undefined
}

/** The plan that says these facts and does these things. Pods that cannot end are given up in whatever state. */
export function plan(scene: Scene, facts: Facts, doings: Doings = {}): TrainingPlan {
  return withStatus(scene, statusOf(scene.observed, scene.all, facts), doings)
}

export function withStatus(scene: Scene, status: PlannedStatus, doings: Doings): TrainingPlan {
  const { apply = [], prune = [], events = [], requeueAfterMs, ...others } = doings
  const { force, ...stuck } = stuckOf(scene.observed, scene.all)
  const again = soonest(requeueAfterMs, stuck.requeueAfterMs)
  return {
    ...others,
    apply,
    prune,
    ...(force.length > 0 && { force: force.flatMap(({ pod }) => pod ?? []) }),
    status,
    events,
    ...(again !== undefined && { requeueAfterMs: again }),
  }
}

/** The attempt after this one, with as many workers as the spec now asks for. Nobody belongs to it yet. */
export function nextAttempt({ attempt, job }: Scene): {
  readonly attempt: Attempt
  readonly members: readonly Member[]
} {
  return { attempt: { number: attempt.number + 1, worldSize: job.spec.numWorkers }, members: [] }
}

/** Nothing new: the facts as they are on record, with this gang. */
export function unchanged({ job, attempt, gang }: Scene, standing: Omit<Facts, 'attempt' | 'members'>): Facts {
  const { failedPods, restartTime } = job.status ?? {}
  return {
    attempt,
    members: gang,
    ...(failedPods && { failedPods }),
    ...(restartTime !== undefined && { restartTime }),
    ...standing,
  }
}
