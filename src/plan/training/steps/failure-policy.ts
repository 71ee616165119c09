/** What a failure leads to: another attempt, counted against backoffLimit or not, or the end of the job. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Failure } from '../observe/failure.ts'

export type FailureDecision =
  | { readonly action: 'restart'; readonly counted: boolean }
  | { readonly action: 'fail'; readonly reason: string; readonly message: string; readonly counted: boolean }

/**
 * Unexplained losses in a row that are treated as disruptions. A pod that fails and is deleted before it is observed looks
 * the same, so a job whose pods always do would otherwise restart forever.
 */
const TOLERATED_LOSSES = 2

/** Unexplained losses in a row, this failure included. */
export function lossesAfter({ status }: TrainingJob, { isUnexplained }: Failure): number {
  return isUnexplained ? (status?.unexplainedLosses ?? 0) + 1 : 0
}

export function decideOn(job: TrainingJob, failure: Failure): FailureDecision {
  if (failure.disrupted && lossesAfter(job, failure) <= TOLERATED_LOSSES) return { action: 'restart', counted: false }
  const { spec, status } = job
  switch (ruleFor(job, failure)) {
    case 'Ignore':
      return { action: 'restart', counted: false }
    case 'Fail':
      return end('NonRetryableExit', `failurePolicy has action Fail for exit code ${failure.exitCode}`)
    case 'Restart':
      break
    case undefined:
      if (spec.restartPolicy === 'Never') return end('RestartPolicyNever', 'restartPolicy is Never')
      break
  }
  const failures = (status?.failures ?? 0) + 1
  if (failures <= spec.backoffLimit) return { action: 'restart', counted: true }
  return end('BackoffLimitReached', `failure ${failures} exceeds backoffLimit ${spec.backoffLimit}`)
}

function end(reason: string, message: string): FailureDecision {
  return { action: 'fail', reason, message, counted: true }
}

/** The action of the first rule that matches the exit code. */
function ruleFor({ spec }: TrainingJob, { exitCode }: Failure): 'Restart' | 'Ignore' | 'Fail' | undefined {
  if (exitCode === undefined) return undefined
  const rule = spec.failurePolicy?.rules.find(({ onExitCodes: { operator, values } }) => {
    return values.includes(exitCode) === (operator === 'In')
  })
  return rule?.action
}
