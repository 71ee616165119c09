/** What the status of a TrainingJob has about its earlier attempts, and where its history is after its end. */
import { dateTime, type Infer, int32, list, listMap, object, optional, text } from './schema.ts'

/** Attempts in the status; the earliest are forgotten. */
export const MAX_ATTEMPTS = 16
/** Nodes of an attempt. */
export const MAX_FAILED_NODES = 8

const pastAttempt = object(
  {
    attempt: int32({ description: 'Number of the attempt.', minimum: 1 }),
    startTime: optional(dateTime({ description: 'Time when its first pod was created, if known.' })),
    endTime: dateTime({ description: 'Time when its end was decided.' }),
    reason: text({ description: 'Why it ended, in CamelCase.', maxLength: 128, examples: ['OOMKilled'] }),
    worldSize: int32({ description: 'Number of its workers.', minimum: 0 }),
    failedNodes: optional(
      list(text({ description: 'Name of a node.', maxLength: 253, examples: ['gpu-node-7'] }), {
        description: 'Nodes of the pods that failed or were lost.',
        maxItems: MAX_FAILED_NODES,
      }),
    ),
  },
  { description: 'An attempt that has ended.' },
)

export const attemptHistory = listMap(pastAttempt, ['attempt'], {
  description:
    'The last attempts that have ended, the earliest first. Attempts of which no pod has started are omitted.',
  maxItems: MAX_ATTEMPTS,
})

export const keptHistory = object(
  {
    configMapName: optional(
      text({ description: 'ConfigMap with the history.', maxLength: 253, examples: ['bert-history'] }),
    ),
    message: optional(
      text({
        description: 'Why there is no history.',
        maxLength: 1024,
        examples: ['Conflict: ConfigMap/bert-history already exists and is not controlled by this TrainingJob'],
      }),
    ),
  },
  { description: 'Where the operator keeps the history of a finished job, if the administrator has enabled it.' },
)

export type PastAttempt = Infer<typeof pastAttempt>
