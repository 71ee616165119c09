/** The conditions of a job. `WorkersReady`, true or not, and whatever else is true say why; the others name the state. */
import type { Verdict } from '../../api/conditions.ts'
import type { TrainingJobState } from '../../api/training-status.ts'
import { reasonWord } from '../reason-word.ts'

export interface Standing {
  readonly state: TrainingJobState
  /** Why, in one CamelCase word. */
  readonly reason: string
  /** Why, for people, and what comes next. */
  readonly message: string
  /** Everybody of the gang runs or is done. */
  readonly isReady: boolean
}

/** The condition that always says why the job stands where it does. */
export const WHY = 'WorkersReady'

/** The types that are ours to write. */
export const conditionTypes = ['Accepted', 'WorkersReady', 'Running', 'Suspended', 'Complete', 'Failed'] as const

export function conditionsOf(standing: Standing, generation: number | undefined): Verdict[] {
  const { state, isReady } = standing
  const reason = reasonWord(standing.reason)
  const message = standing.message.slice(0, MAX_MESSAGE)
  const holds: Readonly<Record<(typeof conditionTypes)[number], boolean>> = {
    Accepted: true,
    WorkersReady: isReady,
    Running: state === 'Running',
    Suspended: state === 'Suspended',
    Complete: state === 'Completed',
    Failed: state === 'Failed',
  }
  const why = (type: keyof typeof holds): Pick<Verdict, 'reason' | 'message'> => {
    if (type === 'Accepted') return { reason: 'Accepted', message: 'the job is accepted' }
    return holds[type] || type === WHY ? { reason, message } : { reason: state, message: '' }
  }
  return conditionTypes.map((type) => ({
    type,
    status: holds[type] ? 'True' : 'False',
    ...why(type),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
}

const MAX_MESSAGE = 4096
