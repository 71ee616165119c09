import type { TrainingOptions } from '../../../src/reconcile/training.ts'
import { systemClock } from '../../../src/runtime/index.ts'
import { scenarioReports } from '../scenarios/scenario-reports.ts'
import { scenarioMlflow, scenarioTracker } from '../scenarios/scenario-tracking.ts'
import { startOperator } from '../../operator/operator.ts'
import { type HarnessOptions, openHarness, type ProgramOptions } from './harness.ts'
import type { RunningOperator } from './operator-replicas.ts'
import type { Harness } from './plan-run.ts'

/** A gang that is rejected waits for as long as it has been waiting. Unbounded, five rejections would take many minutes. */
export const BACKOFF_LIMIT = { backoffLimitMs: 5_000 }

/** A harness for the training operator, with further options for it. */
export function trainingHarness(
  kubeconfig: string,
  options: Omit<HarnessOptions, 'start'>,
  training: Pick<TrainingOptions, 'planner'> = {},
): Promise<Harness & { close(): Promise<void> }> {
  return openHarness(kubeconfig, {
    ...options,
    start: (program) => startOperator({ ...program, ...training, config: BACKOFF_LIMIT }),
  })
}

/** Keeps the history of each job, knows the checkpoints that scenarios report, and tracks jobs in MLflow. */
export const recordingHarness: typeof trainingHarness = async (kubeconfig, options) => {
  await scenarioMlflow.listen()
  const harness = await openHarness(kubeconfig, { ...options, start: startRecording })
  const close = async (): Promise<void> => {
    await harness.close()
    scenarioMlflow.close()
  }
  return { ...harness, close }
}

function startRecording(program: ProgramOptions): RunningOperator {
  const { tracker, close } = scenarioTracker(program.clock ?? systemClock)
  const config = { ...BACKOFF_LIMIT, history: { enabled: true } }
  const operator = startOperator({ ...program, config, reports: scenarioReports, tracker })
  void operator.ended.then(close)
  const kill = (): void => {
    close()
    operator.kill()
  }
  return { ...operator, kill }
}
