/**
 * A changed number of workers: all of them restart, since each has the number in its environment. It does not count
 * against backoffLimit. When it has to wait, the attempt continues, and `pendingResize` reports why.
 */
import { timestamp } from '../../time.ts'
import { wantedResize } from '../observe/wanted-resize.ts'
import { scaled } from '../report/events.ts'
import { quantify } from '../report/wording.ts'
import { makePlan, restartedAttempt, type Step } from './step.ts'

export const resize: Step = (snapshot) => {
  const { job, attempt, observed } = snapshot
  if (wantedResize(snapshot) !== 'due') return undefined
  const { numWorkers } = job.spec
  const next = restartedAttempt(snapshot)
  const hasRun = job.status?.state === 'Running' || job.status?.state === 'Restarting'
  const message = `Scaling from ${attempt.worldSize} to ${quantify(numWorkers, 'worker')}`
  const isRestart = next.restarts !== (job.status?.restarts ?? 0)
  return makePlan(
    snapshot,
    {
      state: hasRun ? 'Restarting' : 'Initializing',
      reason: 'Scaled',
      message,
      isReady: false,
      ...next,
      ...(isRestart && { lastResizeTime: timestamp(observed.now) }),
    },
    { events: [scaled(attempt.worldSize, numWorkers, next.attempt.number)] },
  )
}
