/**
 * Suspend and resume. Once begun, the way to `Suspended` is gone to its end even if the spec changes its mind meanwhile:
 * half a gang is good for nothing. Neither costs a retry.
 */
import { resumed, suspended } from './events.ts'
import type { Scene } from './scene.ts'
import { nextAttempt, plan, type Step, type TrainingPlan, unchanged } from './step.ts'

export const suspend: Step = (scene) => {
  if (!scene.job.spec.suspend) return undefined
  return plan(scene, unchanged(scene, SUSPENDING))
}

/** While suspending or suspended, nothing else happens. */
export const staySuspended: Step = (scene) => {
  const { state } = scene.job.status ?? {}
  if (state === 'Suspending') return emptySeats(scene)
  if (state !== 'Suspended') return undefined
  return scene.job.spec.suspend ? plan(scene, atRest(scene)) : resume(scene)
}

const NO_ATTEMPT = -1

function emptySeats(scene: Scene): TrainingPlan {
  const { engine, observed, all } = scene
  if (engine.isOccupied(observed, NO_ATTEMPT))
    return plan(scene, unchanged(scene, SUSPENDING), engine.clear(observed, all))
  return plan(scene, atRest(scene), { events: [suspended()] })
}

function atRest({ attempt }: Scene) {
  const message = 'no worker is left; set spec.suspend to false to go on'
  return { state: 'Suspended', reason: 'Suspended', message, isReady: false, attempt, members: [] } as const
}

function resume(scene: Scene): TrainingPlan {
  const next = nextAttempt(scene)
  const message = `${next.attempt.worldSize} workers are about to be created`
  const events = [resumed(next.attempt.number)]
  return plan(scene, { state: 'Initializing', reason: 'Resumed', message, isReady: false, ...next }, { events })
}

const SUSPENDING = {
  state: 'Suspending',
  reason: 'Suspending',
  message: 'the workers are being stopped',
  isReady: false,
} as const
