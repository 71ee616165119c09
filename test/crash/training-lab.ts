import type { TrainingOptions } from '../../src/reconcile/training.ts'
import { startOperator } from '../operator.ts'
import { type LabOptions, openLab } from './lab.ts'
import type { Lab } from './run.ts'

/** The operator as the program under test, perhaps with another planner than its own. */
export function trainingLab(
  kubeconfig: string,
  options: Omit<LabOptions, 'start'>,
  planner?: TrainingOptions['planner'],
): Promise<Lab & { close(): Promise<void> }> {
  return openLab(kubeconfig, {
    ...options,
    start: (program) => startOperator({ ...program, ...(planner && { planner }) }),
  })
}
