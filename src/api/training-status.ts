/** The status of a TrainingJob in v1: what is known about the run. */

import { conditionsSchema } from './conditions.ts'
import {
  dateTime,
  flag,
  type Infer,
  int32,
  list,
  listMap,
  mapOf,
  number,
  object,
  optional,
  strEnum,
  text,
} from './schema.ts'
import { commonStatus } from './training-parts.ts'

export const states = [
  'Pending',
  'Initializing',
  'Running',
  'Restarting',
  'Suspending',
  'Suspended',
  'Completed',
  'Failed',
] as const

const count = (description: string) => optional(int32({ description, minimum: 0 }))

const counts = {
  active: count('Those that run.'),
  succeeded: count('Those that are done.'),
  failed: count('Those that have failed.'),
  pending: count('Those that wait for a node or an image.'),
}

const lastFailure = object(
  {
    time: dateTime({ description: 'When it was noticed.' }),
    attempt: int32({ description: 'The attempt that it ended.', minimum: 1 }),
    role: text({ description: '`worker`, or one of the roles.', maxLength: 63, examples: ['worker'] }),
    worker: int32({ description: 'Rank of the worker, or which one of its role.', minimum: 0 }),
    podName: text({ description: 'The pod.', maxLength: 253, examples: ['bert-workers-3'] }),
    node: optional(text({ description: 'Node that it ran on.', maxLength: 253, examples: ['gpu-node-7'] })),
    exitCode: optional(int32({ description: 'Exit code of the training process.' })),
    reason: text({
      description: 'Why, in one word: Error, OOMKilled, Preempted, NodeLost, …',
      maxLength: 128,
      examples: ['OOMKilled'],
    }),
    message: optional(text({ description: 'Why, in a sentence.', maxLength: 1024, examples: ['exit code 137'] })),
    log: optional(
      text({ description: 'The last lines of its log.', maxLength: 4096, examples: ['CUDA out of memory'] }),
    ),
    counted: flag({ description: 'Whether it counts against backoffLimit; losing a node does not.' }),
  },
  { description: 'The last thing that went wrong, and where.' },
)

export const trainingStatus = object(
  {
    state: optional(
      strEnum(states, {
        description:
          'Where the job stands. Pending: accepted; Initializing: workers are being created; Running; ' +
          'Restarting: after a failure or a change of size; Suspending, Suspended: by request; Completed; Failed.',
      }),
    ),
    reason: optional(
      text({
        description: 'Why it stands there, in a few words.',
        maxLength: 1024,
        examples: ['InsufficientGPU: 8 requested, 3 free'],
      }),
    ),
    progress: optional(text({ description: 'How much of the training is done.', maxLength: 16, examples: ['45%'] })),
    currentEpoch: count('Epoch that is being trained.'),
    totalEpochs: count('Epochs to train in all.'),
    metrics: optional(
      mapOf(number({ description: 'The latest value.' }), {
        description:
          'Latest metrics as the workers report them, by name: `loss`, `accuracy`, `throughput`, `stepTime`, …',
        maxProperties: 256,
        examples: [{ loss: 0.234, accuracy: 0.876 }],
      }),
    ),
    workers: optional(object(counts, { description: 'The workers, counted.' })),
    roles: optional(
      listMap(
        object(
          { name: text({ description: 'The role.', maxLength: 63, examples: ['chief'] }), ...counts },
          { description: 'The pods of one role, counted.' },
        ),
        ['name'],
        { description: 'The pods that are no workers, by their role.', maxItems: 8 },
      ),
    ),
    attempts: count('How often the workers have been started together, this time included.'),
    worldSize: count('Workers of the current attempt; every rank of it was told this number.'),
    failures: count('Failures that count against backoffLimit.'),
    failedPods: optional(
      list(text({ description: 'Uid of a pod.', maxLength: 64 }), {
        description: 'Pods of the current attempt whose failure is accounted for and that are being replaced.',
        maxItems: 1024,
      }),
    ),
    restartTime: optional(dateTime({ description: 'When the next attempt may begin.' })),
    lastFailure: optional(lastFailure),
    resources: optional(
      object(
        {
          allocatedGPUs: count('GPUs that the workers hold.'),
          allocatedNodes: count('Nodes that the workers run on.'),
          gpuUtilization: optional(
            number({ description: 'Average use of those GPUs, in percent.', minimum: 0, maximum: 100 }),
          ),
        },
        { description: 'What the job holds of the cluster.' },
      ),
    ),
    duration: optional(text({ description: 'Time since the start.', maxLength: 32, examples: ['2h 15m'] })),
    estimatedCompletion: optional(dateTime({ description: 'When the job will be done if it goes on like this.' })),
    ...commonStatus,
    conditions: optional(conditionsSchema),
  },
  { description: 'What is known about the run. Written by the operator.' },
)

export type TrainingJobStatus = Infer<typeof trainingStatus>
export type TrainingJobState = (typeof states)[number]
export type LastFailure = Infer<typeof lastFailure>
