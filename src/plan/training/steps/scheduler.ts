/** No pod is created for a gang scheduler that the cluster does not have: it would wait for ever. */
import { earliest } from '../../requeue.ts'
import { gangChoice } from '../observe/gang-choice.ts'
import { waitingProblem } from '../report/events.ts'
import { timeLeft } from './run.ts'
import { keepRecorded, makePlan, type Step } from './step.ts'

export const awaitScheduler: Step = (snapshot) => {
  const { job, observed, attempt, missing } = snapshot
  const { trouble } = gangChoice(observed, attempt)
  if (!trouble || missing.length === 0) return undefined
  const { reason, message } = trouble
  const isNew = !job.status?.reason?.startsWith(`${reason}:`)
  return makePlan(snapshot, keepRecorded(snapshot, { state: 'Pending', reason, message, isReady: false }), {
    events: isNew ? [waitingProblem(reason, message)] : [],
    requeueAfterMs: earliest(timeLeft(snapshot), SCHEDULER_POLL_MS),
  })
}

/** As often as the operator looks for kinds that the cluster does not serve. */
const SCHEDULER_POLL_MS = 30_000
