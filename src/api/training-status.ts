/** The status of a TrainingJob in v1: what is known about the run. */

import { conditionsSchema } from './conditions.ts'
import { dateTime, type Infer, int32, mapOf, number, object, optional, strEnum, text } from './schema.ts'
import { commonStatus } from './training-parts.ts'

export const states = ['Pending', 'Initializing', 'Running', 'Restarting', 'Suspended', 'Completed', 'Failed'] as const

const count = (description: string) => optional(int32({ description, minimum: 0 }))

export const trainingStatus = object(
  {
    state: optional(
      strEnum(states, {
        description:
          'Where the job stands. Pending: accepted; Initializing: workers are being created; Running; ' +
          'Restarting: after a failure; Suspended: by request; Completed; Failed.',
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
    workers: optional(
      object(
        {
          active: count('Workers that run.'),
          succeeded: count('Workers that are done.'),
          failed: count('Workers that have failed.'),
          pending: count('Workers that wait for a node or an image.'),
        },
        { description: 'The workers, counted.' },
      ),
    ),
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
