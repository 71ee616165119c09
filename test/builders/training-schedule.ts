/** Builds TrainingSchedules. */
import type { TrainingSchedule, TrainingScheduleSpec } from '../../src/api/trainingschedule.v1.ts'
import { trainingJob } from './training-job.ts'

/** As a user writes it: the server sets the defaults. */
export type ScheduleInput = Partial<TrainingScheduleSpec>

/** By default, one worker at the turn of each year. */
export function trainingSchedule(namespace: string, name: string, spec: ScheduleInput = {}): TrainingSchedule {
  const jobTemplate = { spec: trainingJob(namespace, '', { numWorkers: 1 }).spec }
  const object = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingSchedule',
    metadata: { namespace, name },
    spec: { schedule: '@yearly', jobTemplate, ...spec },
  }
  return object as TrainingSchedule
}
