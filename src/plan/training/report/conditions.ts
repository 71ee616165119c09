/** The conditions of a job. `WorkersReady` and every condition that is true have the reason and message of the job. */
import type { Verdict } from '../../../api/conditions.ts'
import type { TrainingJobState } from '../../../api/training-status.ts'
import { reasonWord } from '../../reason-word.ts'

export interface JobSummary {
  readonly state: TrainingJobState
  /** One CamelCase word. */
  readonly reason: string
  /** What happened, why, and what comes next. */
  readonly message: string
  /** Every pod of the gang runs or has succeeded. */
  readonly isReady: boolean
}

/** The condition that always has the reason and message of the job, whether it is true or not. */
export const SUMMARY_CONDITION = 'WorkersReady'

/** The condition types that the planner writes. */
export const conditionTypes = ['Accepted', 'WorkersReady', 'Running', 'Suspended', 'Complete', 'Failed'] as const

export function conditionsOf(summary: JobSummary, generation: number | undefined): Verdict[] {
  const { state, isReady } = summary
  const reason = reasonWord(summary.reason)
  const message = summary.message.slice(0, MAX_MESSAGE)
  const holds: Readonly<Record<(typeof conditionTypes)[number], boolean>> = {
    Accepted: true,
    WorkersReady: isReady,
    Running: state === 'Running',
    Suspended: state === 'Suspended',
    Complete: state === 'Completed',
    Failed: state === 'Failed',
  }
  const causeOf = (type: keyof typeof holds): Pick<Verdict, 'reason' | 'message'> => {
    if (type === 'Accepted') return { reason: 'Accepted', message: 'The job is accepted' }
    return holds[type] || type === SUMMARY_CONDITION ? { reason, message } : { reason: state, message: '' }
  }
  return conditionTypes.map((type) => ({
    type,
    status: holds[type] ? 'True' : 'False',
    ...causeOf(type),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
}

const MAX_MESSAGE = 4096

/** Only while it is true. */
export const CHANGE_PENDING = 'ChangePending'

export const CHANGE_PENDING_MESSAGE =
  'The pods run with an earlier spec; the change takes effect with the next attempt. To apply it now, set spec.suspend to true, ' +
  'and back to false when the job is Suspended'

export const changePending = (generation: number | undefined): Verdict => ({
  type: CHANGE_PENDING,
  status: 'True',
  reason: 'NextAttempt',
  message: CHANGE_PENDING_MESSAGE,
  ...(generation !== undefined && { observedGeneration: generation }),
})
