import type { TrainingOptions } from '../../../src/reconcile/training.ts'
import { startOperator } from '../../operator/operator.ts'
import { type HarnessOptions, openHarness } from './harness.ts'
import type { Harness } from './plan-run.ts'

/** A harness for the training operator; `planner` replaces its own planner. */
export function trainingHarness(
  kubeconfig: string,
  options: Omit<HarnessOptions, 'start'>,
  planner?: TrainingOptions['planner'],
): Promise<Harness & { close(): Promise<void> }> {
  return openHarness(kubeconfig, {
    ...options,
    start: (program) => startOperator({ ...program, ...(planner && { planner }) }),
  })
}
