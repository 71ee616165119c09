/** The conditions of a job. Each says for itself whether it holds; why, is the same for all: where the job stands. */
import type { Verdict } from '../../api/conditions.ts'
import type { TrainingJobState } from '../../api/training-status.ts'

export interface Standing {
  readonly state: TrainingJobState
  /** Why, in one CamelCase word. */
  readonly reason: string
  /** Why, for people, and what comes next. */
  readonly message: string
  /** Everybody of the gang runs or is done. */
  readonly isReady: boolean
}

/** The types that are ours to write. */
export const conditionTypes = ['Accepted', 'WorkersReady', 'Running', 'Suspended', 'Complete', 'Failed'] as const

export function conditionsOf({ state, reason, message, isReady }: Standing, generation: number | undefined): Verdict[] {
  const holds: Readonly<Record<(typeof conditionTypes)[number], boolean>> = {
    Accepted: true,
    WorkersReady: isReady,
    Running: state === 'Running',
    Suspended: state === 'Suspended',
    Complete: state === 'Completed',
    Failed: state === 'Failed',
  }
  return conditionTypes.map((type) => ({
    type,
    status: holds[type] ? 'True' : 'False',
    ...(type === 'Accepted' ? { reason: 'Accepted', message: 'the job is accepted' } : { reason, message }),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
}
