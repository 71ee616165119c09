/** `spec.elastic` of a TrainingJob, and how its status shows a change of size that has to wait. */
import { cel, dateTime, type Infer, int32, object, optional, strEnum, text } from './schema.ts'

export const MAX_WORKERS = 1024

export const workers = (description: string, options: { readonly default?: number } = {}) =>
  int32({ description, minimum: 1, maximum: MAX_WORKERS, ...options })

export const elastic = object(
  {
    minWorkers: workers('Minimum number of workers.', { default: 1 }),
    maxWorkers: workers('Maximum number of workers.'),
    resizePolicy: strEnum(['AtCheckpoint', 'Now'], {
      description:
        'When a new number of workers takes effect. AtCheckpoint: after the next complete checkpoint, if the workers have ' +
        'reported one before; else at once. Now: at once, and work since the last checkpoint is lost.',
      default: 'AtCheckpoint',
    }),
    maxWaitSeconds: int32({
      description: 'Longest time to wait for the next checkpoint. The number of workers changes then without one.',
      minimum: 0,
      maximum: 86400,
      default: 600,
    }),
  },
  {
    description: 'Allows the number of workers to change while the job runs. If omitted, the number is fixed.',
    examples: [{ minWorkers: 2, maxWorkers: 8 }],
    rules: [
      cel(
        'self.minWorkers <= self.maxWorkers',
        'elastic.minWorkers must not be greater than elastic.maxWorkers: lower minWorkers or raise maxWorkers',
        { fieldPath: '.minWorkers' },
      ),
    ],
  },
)

export const resizeStatus = object(
  {
    desired: int32({ description: 'Number of workers of the spec.', minimum: 1 }),
    current: int32({ description: 'Number of workers of the current attempt.', minimum: 0 }),
    reason: strEnum(['RateLimited', 'WaitingForCheckpoint'], {
      description: 'RateLimited: the number has changed shortly before. WaitingForCheckpoint: so that no work is lost.',
    }),
    message: text({
      description: 'What the change waits for, and until when.',
      maxLength: 1024,
      examples: ['Scaling from 2 to 4 workers waits for the next checkpoint, at most until 2026-11-18T04:10:00Z'],
    }),
    requestedTime: dateTime({ description: 'Time when the first change that is still pending was observed.' }),
    deadline: dateTime({ description: 'Time when the number changes at the latest.' }),
    lastCheckpointTime: optional(
      dateTime({ description: 'Time of the newest checkpoint when the change was requested, if one was reported.' }),
    ),
  },
  { description: 'A change of the number of workers that has to wait. Absent if none is pending.' },
)

export type ResizeStatus = Infer<typeof resizeStatus>
