/** The controllers of TrainingSchedules and TrainingJobs inside the test's process. */
import type { TrainingOptions } from '../../src/reconcile/training.ts'
import { addScheduleController, type ScheduleOptions } from '../../src/reconcile/schedule.ts'
import { addTrainingController } from '../../src/reconcile/training.ts'
import type { Clock } from '../../src/runtime/index.ts'
import { type Operator, type ProgramOptions, startProgram } from './operator.ts'

export interface SchedulingOptions
  extends ProgramOptions, Pick<ScheduleOptions, 'namespace' | 'concurrency' | 'resyncMs' | 'planner'> {
  /** The time by which schedules are due. Default: that of the manager's clock. */
  readonly now?: (clock: Clock) => number
  readonly config?: TrainingOptions['config']
}

/** Starts both controllers. Restarts of jobs have no backoff, and fake nodes have no logs. */
export function startScheduling({ planner, now, config, ...options }: SchedulingOptions): Operator {
  const readLog = (): Promise<undefined> => Promise.resolve(undefined)
  const training: TrainingOptions = { ...options, config: { backoffMs: 0, ...config }, readLog }
  return startProgram(options, (manager) => {
    addTrainingController(manager, training)
    addScheduleController(manager, {
      ...options,
      ...(planner && { planner }),
      ...(now && { now: () => now(manager.clock) }),
    })
  })
}
