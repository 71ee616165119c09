/** What `spec.stall` asks for. The condition `Stalled` is recorded first; the next pass acts on it. */
import { isTrue } from '../../../api/conditions.ts'
import type { Failure } from '../observe/failure.ts'
import { stallOf } from '../observe/stall.ts'
import { STALLED } from '../report/conditions.ts'
import { decideOn } from './failure-policy.ts'
import { failJob, restartGang } from './restart.ts'
import type { Step } from './step.ts'

/** Restarts the gang or fails the job. Which process hangs is not known, so no member is replaced alone. */
export const endStall: Step = (snapshot) => {
  const { job, observed } = snapshot
  const stall = stallOf(snapshot)
  if (!stall || stall.action === 'Warn' || !isTrue(job.status?.conditions, STALLED)) return undefined
  const { member, message } = stall
  const failure: Failure = { member, reason: STALLED, message, disrupted: false, at: observed.now }
  if (stall.action === 'Fail')
    return failJob(snapshot, failure, {
      action: 'fail',
      reason: STALLED,
      message: 'stall.action is Fail',
      counted: true,
    })
  const decision = decideOn(job, failure)
  return decision.action === 'fail' ? failJob(snapshot, failure, decision) : restartGang(snapshot, failure, decision)
}
