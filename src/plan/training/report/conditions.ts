/**
 * The conditions of a job. `WorkersReady` and every condition about the state that is true have the reason and message of the
 * job.
 */
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
export const conditionTypes = [
  'Accepted',
  'ResourcesCreated',
  'WorkersReady',
  'Running',
  'Suspended',
  'Complete',
  'Failed',
] as const

/** All objects of the attempt exist. */
export const RESOURCES_CREATED = 'ResourcesCreated'

/** Whether all objects of the attempt exist, and why that is known. */
export interface Creation extends Pick<Verdict, 'reason' | 'message'> {
  readonly isDone: boolean
}

export function conditionsOf(summary: JobSummary, creation: Creation, generation: number | undefined): Verdict[] {
  const { state, isReady } = summary
  const reason = reasonWord(summary.reason)
  const message = summary.message.slice(0, MAX_MESSAGE)
  const holds: Readonly<Record<(typeof conditionTypes)[number], boolean>> = {
    Accepted: true,
    ResourcesCreated: creation.isDone,
    WorkersReady: isReady,
    Running: state === 'Running',
    Suspended: state === 'Suspended',
    Complete: state === 'Completed',
    Failed: state === 'Failed',
  }
  const causeOf = (type: keyof typeof holds): Pick<Verdict, 'reason' | 'message'> => {
    if (type === 'Accepted') return { reason: 'Accepted', message: 'The job is accepted' }
    if (type === RESOURCES_CREATED) return { reason: creation.reason, message: creation.message }
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

/** Only while it is true: the job runs without progress. */
export const STALLED = 'Stalled'

/** Only while it is true: `spec.progress` says where the progress is, and it cannot be read. */
export const PROGRESS_UNAVAILABLE = 'ProgressUnavailable'

/** A condition that exists only while it is true. */
export const trueCondition = (type: string, reason: string, message: string, generation?: number): Verdict => ({
  type,
  status: 'True',
  reason,
  message: message.slice(0, MAX_MESSAGE),
  ...(generation !== undefined && { observedGeneration: generation }),
})

/** Only while it is true. */
export const CHANGE_PENDING = 'ChangePending'

export const CHANGE_PENDING_MESSAGE =
  'The pods run with an earlier spec; the change takes effect with the next attempt. To apply it now, set spec.suspend to true, ' +
  'and back to false when the job is Suspended'

export const changePending = (generation: number | undefined): Verdict =>
  trueCondition(CHANGE_PENDING, 'NextAttempt', CHANGE_PENDING_MESSAGE, generation)

/** The conditions with this one, in its place if it is already there. */
export function withVerdict(conditions: readonly Verdict[], verdict: Verdict | undefined): readonly Verdict[] {
  if (!verdict) return conditions
  const isThere = conditions.some(({ type }) => type === verdict.type)
  return isThere ? conditions.map((one) => (one.type === verdict.type ? verdict : one)) : [...conditions, verdict]
}
