/** The beginning: the first attempt is put on record, and what its pods will need is made. */
import { childrenOf } from './children.ts'
import { nextAttempt, plan, type Step } from './step.ts'

export const begin: Step = (scene) => {
  const { job, observed, attempt } = scene
  if (attempt.number > 0 || job.status?.state === 'Suspended') return undefined
  if (job.spec.suspend) return plan(scene, { ...SUSPENDED, attempt, members: [] })
  const first = nextAttempt(scene)
  const message = `${first.attempt.worldSize} workers are about to be created`
  return plan(
    scene,
    { state: 'Pending', reason: 'Accepted', message, isReady: false, ...first },
    childrenOf(observed, first.attempt),
  )
}

const SUSPENDED = {
  state: 'Suspended',
  reason: 'Suspended',
  message: 'created suspended; set spec.suspend to false to begin',
  isReady: false,
} as const
