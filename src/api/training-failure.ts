/** What a TrainingJob does about a worker that has failed, by its exit code. */

import { type Infer, int32, list, object, strEnum } from './schema.ts'

const rule = object(
  {
    action: strEnum(['Restart', 'Ignore', 'Fail'], {
      description:
        'Restart: start again, and count it against backoffLimit. Ignore: start again without counting it. ' +
        'Fail: the job has failed, at once.',
    }),
    onExitCodes: object(
      {
        operator: strEnum(['In', 'NotIn'], {
          description: 'Whether the exit code has to be one of the values, or none of them.',
          default: 'In',
        }),
        values: list(int32({ description: 'An exit code. 0 is no failure.', minimum: 1, maximum: 255 }), {
          description: 'Exit codes; 137 is a kill (often for memory), 143 a request to end.',
          minItems: 1,
          maxItems: 255,
          examples: [[3, 42]],
        }),
      },
      { description: 'Which exit codes this is about.' },
    ),
  },
  { description: 'What to do about some exit codes.' },
)

export const failurePolicy = object(
  {
    rules: list(rule, { description: 'Tried in this order; the first that fits decides.', minItems: 1, maxItems: 20 }),
  },
  {
    description:
      'What to do about a failed worker, by exit code. Where no rule fits, restartPolicy decides. Losing a node or being ' +
      'preempted is no failure of the worker, and never counted.',
    examples: [{ rules: [{ action: 'Fail', onExitCodes: { operator: 'In', values: [3] } }] }],
  },
)

export type FailurePolicy = Infer<typeof failurePolicy>
