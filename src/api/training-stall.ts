/** Stall detection of a TrainingJob: what to do when a running job makes no progress. */

import { type Infer, int32, object, strEnum } from './schema.ts'

export const stall = object(
  {
    timeoutSeconds: int32({
      description:
        'Seconds without progress after which the job is stalled: step, epoch, percentage and checkpoint are unchanged while ' +
        'all workers run. Use several times the longest pause between two reports, including the time until the first one.',
      minimum: 1,
      maximum: 2_592_000,
      examples: [1800],
    }),
    action: strEnum(['Warn', 'Restart', 'Fail'], {
      description:
        '`Warn` sets the condition Stalled and publishes an event. `Restart` also restarts all workers and counts a failure ' +
        'against backoffLimit; restartPolicy applies. `Fail` fails the job.',
      default: 'Warn',
    }),
  },
  {
    description: 'What to do when the job runs without progress. If omitted, nothing.',
    examples: [{ timeoutSeconds: 1800, action: 'Restart' }],
  },
)

export type StallPolicy = Infer<typeof stall>
