/** The failure policy of a TrainingJob: what to do when a worker fails, by exit code. */

import { type Infer, int32, list, object, strEnum } from './schema.ts'

const rule = object(
  {
    action: strEnum(['Restart', 'Ignore', 'Fail'], {
      description:
        '`Restart` restarts and counts the failure against backoffLimit, `Ignore` restarts without counting it, ' +
        '`Fail` fails the job immediately.',
    }),
    onExitCodes: object(
      {
        operator: strEnum(['In', 'NotIn'], {
          description: '`In` matches exit codes in `values`, `NotIn` all others.',
          default: 'In',
        }),
        values: list(int32({ description: 'A nonzero exit code.', minimum: 1, maximum: 255 }), {
          description: 'Exit codes. 137 means SIGKILL (often out of memory), 143 means SIGTERM.',
          minItems: 1,
          maxItems: 255,
          examples: [[3, 42]],
        }),
      },
      { description: 'Exit codes that the rule matches.' },
    ),
  },
  { description: 'An action for a set of exit codes.' },
)

export const failurePolicy = object(
  {
    rules: list(rule, {
      description: 'Rules, evaluated in order. The first match applies.',
      minItems: 1,
      maxItems: 20,
    }),
  },
  {
    description:
      'What to do when a worker fails, by exit code. If no rule matches, restartPolicy applies. Node loss and preemption are ' +
      'disruptions, not failures, and are never counted.',
    examples: [{ rules: [{ action: 'Fail', onExitCodes: { operator: 'In', values: [3] } }] }],
  },
)

export type FailurePolicy = Infer<typeof failurePolicy>
