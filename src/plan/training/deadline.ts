/** How long a job may take: from the moment it was accepted, or resumed for the last time. */
import { getCondition } from '../../api/conditions.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { millis } from '../time.ts'

/** Milliseconds until the deadline; negative when it has passed, undefined when there is none. */
export function untilDeadline(job: TrainingJob, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec
  const since = activeSince(job)
  if (activeDeadlineSeconds === undefined || since === undefined) return undefined
  return since + activeDeadlineSeconds * 1000 - now
}

/** The condition `Suspended` has been false since then. */
function activeSince({ status }: TrainingJob): number | undefined {
  const suspended = getCondition(status?.conditions, 'Suspended')
  return suspended?.status === 'False' ? millis(suspended.lastTransitionTime) : undefined
}
