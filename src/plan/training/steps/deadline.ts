/**
 * `activeDeadlineSeconds`: counts from `startTime`, when the first worker ran, or from the last time the job was resumed
 * or granted quota. Time in a queue does not count.
 */
import { getCondition } from '../../../api/conditions.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { millis } from '../../time.ts'

/** Milliseconds until the deadline; negative when it has passed, undefined when there is none. */
export function untilDeadline(job: TrainingJob, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec
  const since = activeSince(job)
  if (activeDeadlineSeconds === undefined || since === undefined) return undefined
  return since + activeDeadlineSeconds * 1000 - now
}

/** The condition `Suspended` became false when the job was resumed. */
function activeSince({ status }: TrainingJob): number | undefined {
  const started = millis(status?.startTime)
  const suspended = getCondition(status?.conditions, 'Suspended')
  const granted = grantedSince(status)
  if (started === undefined || granted === undefined || suspended?.status !== 'False') return undefined
  return Math.max(started, millis(suspended.lastTransitionTime) ?? started, granted)
}

/** 0 for a job that needs no quota, undefined for one that waits for it. */
function grantedSince(status: TrainingJob['status']): number | undefined {
  const { queueName, admission } = status?.scheduling ?? {}
  return queueName === undefined ? 0 : millis(admission?.time)
}
