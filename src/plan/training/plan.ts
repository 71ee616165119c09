/**
 * The life of a TrainingJob that is accepted: what should be written, given what is seen. Pure.
 *
 *     Pending → Initializing → Running → Completed | Failed
 *                    ↑ ↓          ↓ ↑
 *       Suspended ← Suspending   Restarting
 *
 * The steps are asked in order and the first that has something to do does it. So nothing leads out of an end; success
 * goes before everything that could undo it; a failure is accounted for before anything else happens to the gang; and
 * pods are created only when nothing else is left to do.
 */
import type { Plan } from '../plan.ts'
import { discardedClaims } from './claims.ts'
import { stuckOf } from './dead-nodes.ts'
import { complete, expire, stayFinished } from './finish.ts'
import type { TrainingObserved } from './observed.ts'
import { refusal } from '../refusal.ts'
import { resize } from './resize.ts'
import { restart } from './restart.ts'
import { makeRoom, pause, run } from './run.ts'
import { type Scene, sceneOf } from './scene.ts'
import { waitToBegin } from './start.ts'
import { plan, type Step, type TrainingPlan, unchanged } from './step.ts'
import { staySuspended, suspend } from './suspension.ts'
import { waits } from './events.ts'

const steps: readonly Step[] = [
  stayFinished,
  waitToBegin,
  staySuspended,
  complete,
  expire,
  restart,
  suspend,
  resize,
  makeRoom,
  pause,
]

export function planTraining(observed: TrainingObserved): TrainingPlan {
  const scene = sceneOf(observed)
  for (const step of steps) {
    const answer = step(scene)
    if (answer) return answer
  }
  return run(scene)
}

/**
 * The plan after the API server refused one of our writes for a reason that people have to see to, such as a quota: it
 * only says so. Trying again is left to the caller.
 */
export function planRefusal(observed: TrainingObserved, message: string): TrainingPlan {
  const scene = sceneOf(observed)
  const { reason, message: why } = refusal(message)
  const { state = 'Pending', reason: known } = scene.job.status ?? {}
  const isNews = !known?.startsWith(`${reason}:`)
  const facts = unchanged(scene, { state, reason, message: why, isReady: false })
  return plan(scene, facts, { events: isNews ? [waits(reason, why)] : [] })
}

/** What to do before the job may go. `done`: nothing of it is left but what is meant to stay. */
export function planDeletion(observed: TrainingObserved): Plan & { readonly done: boolean } {
  const scene = sceneOf(observed)
  const { force, ...stuck } = stuckOf(observed, scene.all)
  const isEmpty = !isOccupied(scene)
  const discard = isEmpty ? discardedClaims(observed.job, observed.claims) : []
  const left = discard.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return {
    ...scene.engine.clear(observed, scene.all),
    ...(force.length > 0 && { force: force.flatMap(({ pod }) => pod ?? []) }),
    ...(left.length > 0 && { discard: left }),
    events: [],
    ...stuck,
    done: isEmpty && left.length === 0,
  }
}

const NO_ATTEMPT = -1
const isOccupied = ({ engine, observed }: Scene): boolean => engine.isOccupied(observed, NO_ATTEMPT)
