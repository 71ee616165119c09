/**
 * A changed number of workers: all of them restart, since each has the number in its environment. It does not count
 * against backoffLimit.
 */
import { scaled } from '../report/events.ts'
import { quantify } from '../report/wording.ts'
import { makePlan, nextAttempt, type Step } from './step.ts'

export const resize: Step = (snapshot) => {
  const { job, attempt } = snapshot
  const { numWorkers } = job.spec
  if (numWorkers === attempt.worldSize) return undefined
  const next = nextAttempt(snapshot)
  const hasRun = job.status?.state === 'Running' || job.status?.state === 'Restarting'
  const message = `Scaling from ${attempt.worldSize} to ${quantify(numWorkers, 'worker')}`
  return makePlan(
    snapshot,
    { state: hasRun ? 'Restarting' : 'Initializing', reason: 'Scaled', message, isReady: false, ...next },
    { events: [scaled(attempt.worldSize, numWorkers, next.attempt.number)] },
  )
}
