/** The end, well or not. What is final stays so; what is left is to tidy up, and at last to go. */
import { leadingRole } from './attempt.ts'
import type { Standing } from './conditions.ts'
import { untilDeadline } from './deadline.ts'
import { type Change, NO_CHANGE } from './engine/contract.ts'
import { trainingCompleted, trainingFailed } from './events.ts'
import { WORKER } from './names.ts'
import type { Scene } from './scene.ts'
import { isFinished } from './state.ts'
import { type Facts, type PlannedStatus, resourcesHeld } from './status.ts'
import { plan, type Step, type TrainingPlan, withStatus } from './step.ts'
import { untilExpired } from './ttl.ts'

/** After the end only two things in the status still change: what the job holds, and which spec was seen. */
export const stayFinished: Step = (scene) => {
  const { job, observed, all } = scene
  if (!isFinished(job)) return undefined
  const { conditions, ...known } = job.status ?? {}
  const status: PlannedStatus = {
    ...known,
    ...(conditions && { conditions }),
    resources: { ...known.resources, ...resourcesHeld(job, all) },
    ...(job.metadata.generation !== undefined && { observedGeneration: job.metadata.generation }),
  }
  const left = untilExpired(job, observed.now)
  return withStatus(scene, status, {
    ...tidied(scene),
    ...(left !== undefined && left <= 0 ? { expired: true } : { requeueAfterMs: left }),
  })
}

function tidied({ job, engine, observed, all }: Scene): Change {
  const { cleanPodPolicy } = job.spec
  if (cleanPodPolicy === 'None') return NO_CHANGE
  return cleanPodPolicy === 'All' ? engine.clear(observed, all) : engine.stop(observed)
}

/** All workers are done, or whoever leads them. */
export const complete: Step = (scene) => {
  const { job, gang, seats } = scene
  const deciding = leadingRole(job.spec) ?? WORKER
  const done = gang.filter(({ role, phase }) => role === deciding && phase === 'Succeeded')
  const needed = seats.filter(({ role }) => role === deciding)
  if (needed.length === 0 || done.length < needed.length) return undefined
  const message = deciding === WORKER ? `all ${needed.length} workers succeeded` : `the ${deciding} succeeded`
  return plan(scene, atEnd(scene, { state: 'Completed', reason: 'TrainingCompleted', message, isReady: false }), {
    events: [trainingCompleted(message)],
  })
}

/** Nobody is being replaced any more, and no attempt is to come. */
function atEnd({ attempt, gang }: Scene, standing: Standing): Facts {
  return { attempt, members: gang, ...standing }
}

export const expire: Step = (scene) => {
  const left = untilDeadline(scene.job, scene.observed.now)
  if (left === undefined || left > 0) return undefined
  const message = `not done after activeDeadlineSeconds (${scene.job.spec.activeDeadlineSeconds} s): raise it, or train less`
  return failed(scene, 'DeadlineExceeded', message)
}

export function failed(scene: Scene, reason: string, message: string, more: object = {}): TrainingPlan {
  return plan(
    scene,
    { ...atEnd(scene, { state: 'Failed', reason, message, isReady: false }), ...more },
    { events: [trainingFailed(reason, message)] },
  )
}
