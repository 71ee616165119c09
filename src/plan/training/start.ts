/** A job that is created suspended waits for its first attempt; every other has begun when it is accepted. */
import { plan, type Step } from './step.ts'

export const waitToBegin: Step = (scene) => {
  const { job, attempt } = scene
  if (attempt.number > 0 || job.status?.state === 'Suspended' || !job.spec.suspend) return undefined
  return plan(scene, { ...SUSPENDED, attempt, members: [] })
}

const SUSPENDED = {
  state: 'Suspended',
  reason: 'Suspended',
  message: 'created suspended; set spec.suspend to false to begin',
  isReady: false,
} as const
