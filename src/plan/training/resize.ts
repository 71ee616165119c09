/** Another number of workers: all of them start again, since each was told how many they are. It costs no retry. */
import { scaled } from './events.ts'
import { nextAttempt, plan, type Step } from './step.ts'

export const resize: Step = (scene) => {
  const { job, attempt } = scene
  const { numWorkers } = job.spec
  if (numWorkers === attempt.worldSize) return undefined
  const next = nextAttempt(scene)
  const hasRun = job.status?.state === 'Running' || job.status?.state === 'Restarting'
  const message = `from ${attempt.worldSize} to ${numWorkers} workers`
  return plan(
    scene,
    { state: hasRun ? 'Restarting' : 'Initializing', reason: 'Scaled', message, isReady: false, ...next },
    { events: [scaled(attempt.worldSize, numWorkers, next.attempt.number)] },
  )
}
