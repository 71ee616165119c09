/** What a failure leads to: another attempt, which may count against the limit, or the end of the job. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Failure } from './failure.ts'

export type Ruling =
  | { readonly action: 'restart'; readonly counted: boolean }
  | { readonly action: 'fail'; readonly reason: string; readonly message: string; readonly counted: boolean }

export function rulingOn(job: TrainingJob, failure: Failure): Ruling {
  if (failure.disrupted) return { action: 'restart', counted: false }
  const { spec, status } = job
  switch (ruleFor(job, failure)) {
    case 'Ignore':
      return { action: 'restart', counted: false }
    case 'Fail':
      return end('NonRetryableExit', `failurePolicy says that exit code ${failure.exitCode} is final`)
    case 'Restart':
      break
    case undefined:
      if (spec.restartPolicy === 'Never') return end('RestartPolicyNever', 'restartPolicy is Never')
      break
  }
  const failures = (status?.failures ?? 0) + 1
  if (failures <= spec.backoffLimit) return { action: 'restart', counted: true }
  return end('BackoffLimitReached', `failure ${failures}, and backoffLimit allows ${spec.backoffLimit}`)
}

function end(reason: string, message: string): Ruling {
  return { action: 'fail', reason, message, counted: true }
}

/** The action of the first rule that fits the exit code. */
function ruleFor({ spec }: TrainingJob, { exitCode }: Failure): 'Restart' | 'Ignore' | 'Fail' | undefined {
  if (exitCode === undefined) return undefined
  const fits = spec.failurePolicy?.rules.find(({ onExitCodes: { operator, values } }) => {
    return values.includes(exitCode) === (operator === 'In')
  })
  return fits?.action
}
