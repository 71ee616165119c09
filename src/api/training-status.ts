/** Status of a TrainingJob v1. */

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
  active: count('Number of running pods.'),
  succeeded: count('Number of succeeded pods.'),
  failed: count('Number of failed pods.'),
  pending: count('Number of pods waiting for a node or an image.'),
}

const lastFailure = object(
  {
    time: dateTime({ description: 'Time when the failure was observed.' }),
    attempt: int32({ description: 'Attempt that failed.', minimum: 1 }),
    role: text({ description: '`worker`, or the name of a role.', maxLength: 63, examples: ['worker'] }),
    worker: int32({ description: 'Rank of the worker, or index of the pod in its role.', minimum: 0 }),
    podName: text({ description: 'Name of the pod.', maxLength: 253, examples: ['bert-workers-3'] }),
    node: optional(text({ description: 'Node of the pod.', maxLength: 253, examples: ['gpu-node-7'] })),
    exitCode: optional(int32({ description: 'Exit code of the training process.' })),
    reason: text({
      description: 'Reason in CamelCase: Error, OOMKilled, Preempted, NodeLost, …',
      maxLength: 128,
      examples: ['OOMKilled'],
    }),
    message: optional(
      text({ description: 'Human-readable explanation.', maxLength: 1024, examples: ['exit code 137'] }),
    ),
    log: optional(text({ description: 'Last lines of the log.', maxLength: 4096, examples: ['CUDA out of memory'] })),
    counted: flag({
      description: 'Whether the failure counts against backoffLimit. Disruptions, such as the loss of a node, do not.',
    }),
  },
  { description: 'The most recent failure or disruption.' },
)

export const trainingStatus = object(
  {
    state: optional(
      strEnum(states, {
        description:
          'State of the job. Pending: waiting for nodes; Initializing: workers are being created or started; Running; ' +
          'Restarting: after a failure or a change of size; Suspending, Suspended: on request; Completed; Failed.',
      }),
    ),
    reason: optional(
      text({
        description: 'Reason for the state, with a short explanation.',
        maxLength: 1024,
        examples: ['InsufficientGPU: 8 requested, 3 free'],
      }),
    ),
    progress: optional(text({ description: 'Progress of the training in percent.', maxLength: 16, examples: ['45%'] })),
    currentEpoch: count('Current epoch.'),
    totalEpochs: count('Total number of epochs.'),
    metrics: optional(
      mapOf(number({ description: 'Latest value.' }), {
        description:
          'Latest metrics that the workers reported, by name: `loss`, `accuracy`, `throughput`, `stepTime`, …',
        maxProperties: 256,
        examples: [{ loss: 0.234, accuracy: 0.876 }],
      }),
    ),
    workers: optional(object(counts, { description: 'Number of workers by phase.' })),
    roles: optional(
      listMap(
        object(
          { name: text({ description: 'Name of the role.', maxLength: 63, examples: ['chief'] }), ...counts },
          { description: 'Number of pods of a role by phase.' },
        ),
        ['name'],
        { description: 'Number of pods by role, without the workers.', maxItems: 8 },
      ),
    ),
    ready: optional(
      text({
        description: 'Number of pods that run or have succeeded, and number of pods of the attempt.',
        maxLength: 16,
        examples: ['3/4'],
      }),
    ),
    selector: optional(
      text({
        description: 'Label selector of the workers, for the scale subresource.',
        maxLength: 512,
        examples: ['trainingjob.ml.example.com/job-uid=6f1c,trainingjob.ml.example.com/role=worker'],
      }),
    ),
    restarts: count('Number of attempts after the first one, whatever their cause.'),
    attempts: count('Number of attempts, including the current one. In each attempt all workers start together.'),
    worldSize: count('Number of workers in the current attempt. The same for every rank.'),
    failures: count('Number of failures counted against backoffLimit.'),
    unexplainedLosses: count(
      'Number of consecutive worker losses without an observed exit, disruption or deletion. ' +
        'From the third on, each counts against backoffLimit.',
    ),
    failedPods: optional(
      list(text({ description: 'UID of a pod.', maxLength: 64 }), {
        description: 'Pods of the current attempt whose failure is recorded and that are being replaced.',
        maxItems: 1024,
      }),
    ),
    restartTime: optional(dateTime({ description: 'Earliest start time of the next attempt.' })),
    lastFailure: optional(lastFailure),
    resources: optional(
      object(
        {
          allocatedGPUs: count('Number of GPUs allocated to the workers.'),
          allocatedNodes: count('Number of nodes that the workers run on.'),
          gpuUtilization: optional(
            number({ description: 'Average utilization of the allocated GPUs in percent.', minimum: 0, maximum: 100 }),
          ),
        },
        { description: 'Cluster resources allocated to the job.' },
      ),
    ),
    duration: optional(
      text({
        description: 'Time from the start to the last status update, or to the end of a finished job.',
        maxLength: 32,
        examples: ['2h 15m'],
      }),
    ),
    estimatedCompletion: optional(dateTime({ description: 'Estimated completion time at the current pace.' })),
    ...commonStatus,
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the training run. Set by the operator.' },
)

export type TrainingJobStatus = Infer<typeof trainingStatus>
export type TrainingJobState = (typeof states)[number]
export type LastFailure = Infer<typeof lastFailure>
