/** The states of a job, and the two that nothing leads out of. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { TrainingJobState } from '../../api/training-status.ts'

export const isFinal = (state: TrainingJobState | undefined): boolean => state === 'Completed' || state === 'Failed'

export const isFinished = ({ status }: TrainingJob): boolean => isFinal(status?.state)
