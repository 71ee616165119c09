import { startScheduling, type SchedulingOptions } from '../../operator/schedule-operator.ts'
import { type HarnessOptions, openHarness } from './harness.ts'
import type { Harness } from './plan-run.ts'
import { BACKOFF_LIMIT } from './training-harness.ts'

/**
 * Schedules see a clock that is a year ahead. So a yearly time is due as soon as a schedule is created, it is the same time in
 * every run of a scenario, and no other becomes due while a scenario runs.
 */
const AHEAD_MS = 365 * 24 * 3_600_000

/** A harness for the controllers of schedules and jobs; `planner` replaces the planner of schedules. */
export function scheduleHarness(
  kubeconfig: string,
  options: Omit<HarnessOptions, 'start'>,
  planner?: SchedulingOptions['planner'],
): Promise<Harness & { close(): Promise<void> }> {
  return openHarness(kubeconfig, {
    ...options,
    start: (program) =>
      startScheduling({
        ...program,
        config: BACKOFF_LIMIT,
        now: (clock) => clock.now() + AHEAD_MS,
        ...(planner && { planner }),
      }),
  })
}
