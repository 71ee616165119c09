/** A run: the TrainingJob of one scheduled time. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { TrainingSchedule } from '../../api/trainingschedule.v1.ts'
import { timestamp } from '../time.ts'
import { FINALIZER } from '../training/index.ts'
import { runName, SCHEDULE_LABEL, TIME_ANNOTATION } from './names.ts'

/**
 * The finalizer is set from the start: a run that is deleted before it is recorded stays visible until the operator has
 * seen it, so the same time does not start a second run.
 */
export function runOf(schedule: TrainingSchedule, time: number): TrainingJob {
  const { metadata = {}, spec } = schedule.spec.jobTemplate
  const { name, namespace } = schedule.metadata
  return {
    apiVersion: schedule.apiVersion,
    kind: 'TrainingJob',
    metadata: {
      name: runName(schedule, time),
      ...(namespace !== undefined && { namespace }),
      labels: { ...metadata.labels, [SCHEDULE_LABEL]: name },
      annotations: { ...metadata.annotations, [TIME_ANNOTATION]: timestamp(time) },
      finalizers: [FINALIZER],
    },
    spec,
  }
}
