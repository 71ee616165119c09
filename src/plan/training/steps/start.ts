/** A job that was created suspended waits for its first attempt. Every other job has one when it is accepted. */
import { makePlan, type Step } from './step.ts'

export const waitToStart: Step = (snapshot) => {
  const { job, attempt } = snapshot
  if (attempt.number > 0 || job.status?.state === 'Suspended' || !job.spec.suspend) return undefined
  return makePlan(snapshot, { ...SUSPENDED, attempt, members: [] })
}

const SUSPENDED = {
  state: 'Suspended',
  reason: 'Suspended',
  message: 'The job was created suspended; set spec.suspend to false to start it',
  isReady: false,
} as const
