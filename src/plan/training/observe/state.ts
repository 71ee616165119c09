/** The final states of a job. */
import type { TrainingJobState } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'

export const isFinal = (state: TrainingJobState | undefined): boolean => state === 'Completed' || state === 'Failed'

export const isFinished = ({ status }: TrainingJob): boolean => isFinal(status?.state)
