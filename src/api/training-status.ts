/** Status of a TrainingJob v1. */

import { conditionsSchema } from './conditions.ts'
import {
  dateTime,
  flag,
  type Infer,
  int32,
  int64,
  list,
  listMap,
  mapOf,
  number,
  object,
  optional,
  strEnum,
  text,
} from './schema.ts'
import { costStatus } from './training-cost.ts'
import { outputStatus } from './training-output.ts'
import { resizeStatus } from './training-elastic.ts'
import { attemptHistory, keptHistory } from './training-history.ts'
import { commonStatus } from './training-parts.ts'
import { slowestWorker } from './slowest-worker.ts'
import { reportSources } from './training-report.ts'
import { schedulingStatus } from './training-scheduling.ts'
import { trackingStatus } from './training-tracking.ts'

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

const lastReport = object(
  {
    time: dateTime({ description: 'Time when the report was recorded.' }),
    attempt: int32({ description: 'Attempt that sent it.', minimum: 1 }),
    source: strEnum(reportSources, {
      description: 'Source of progress and metrics. Report: sent by the pods.',
    }),
    percent: optional(number({ description: 'Progress in percent.', minimum: 0, maximum: 100 })),
    progressTime: optional(
      dateTime({ description: 'Time of the last progress: step, epoch, percentage or checkpoint has changed.' }),
    ),
    percentPerSecond: optional(
      number({ description: 'Pace of the training, measured within attempts: the basis of estimatedCompletion.' }),
    ),
  },
  { description: 'The most recent progress report in this status, and what was measured from it.' },
)

const LOCATION = { maxLength: 1536 }

const checkpoint = object(
  {
    latest: optional(
      text({
        description: 'Location of the newest complete checkpoint that is known.',
        ...LOCATION,
        examples: ['/checkpoints/step-00001000'],
      }),
    ),
    step: optional(int64({ description: 'Training step of that checkpoint.', minimum: 0 })),
    time: optional(dateTime({ description: 'Time when it was saved or reported.' })),
    count: count('Number of complete checkpoints when they were last listed, before the attempt in `attempt`.'),
    resumedFrom: optional(
      text({
        description:
          'Where the attempt in `attempt` resumes: a checkpoint, or the directory if its content is not known.',
        ...LOCATION,
        examples: ['/checkpoints/step-00001000'],
      }),
    ),
    attempt: count('Attempt that the checkpoints were last listed for.'),
    storage: optional(
      text({
        description: 'Storage in which they were listed: a claim and its mount path, or a URI.',
        ...LOCATION,
        examples: ['pvc://bert-checkpoints/checkpoints'],
      }),
    ),
    failures: count('Number of consecutive failures to list the checkpoints. The job waits until it succeeds.'),
    intervalSeconds: optional(
      int32({ description: 'Usual time between two checkpoints in seconds, measured within attempts.', minimum: 0 }),
    ),
  },
  { description: 'The checkpoints of the job.' },
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
    step: optional(int64({ description: 'Current training step.', minimum: 0 })),
    totalSteps: optional(int64({ description: 'Total number of training steps.', minimum: 0 })),
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
    restarts: count(
      'Number of restarts: a failure, a disruption or a change of size ended workers that had started, and all workers ' +
        'started again. Suspending and resuming is not a restart.',
    ),
    addedWorkers: optional(
      list(
        object(
          {
            firstRank: int32({ description: 'First rank of the added workers.', minimum: 1 }),
            restarts: int32({ description: 'Number of restarts of the job when they were added.', minimum: 0 }),
          },
          { description: 'Workers that a change of size has added.' },
        ),
        { description: 'Workers that changes of size have added, in the order of ranks.', maxItems: 1024 },
      ),
    ),
    attempts: count('Number of attempts, including the current one. In each attempt all workers start together.'),
    worldSize: count('Number of workers in the current attempt. The same for every rank.'),
    attemptHistory: optional(attemptHistory),
    resize: optional(resizeStatus),
    scheduling: optional(schedulingStatus),
    lastResizeTime: optional(
      dateTime({ description: 'Time when a change of the number of workers last restarted them.' }),
    ),
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
    cost: optional(costStatus),
    duration: optional(
      text({
        description: 'Time from the start to the last status update, or to the end of a finished job.',
        maxLength: 32,
        examples: ['2h 15m'],
      }),
    ),
    estimatedCompletion: optional(
      dateTime({ description: 'Estimated completion time at the current pace. Only while the job runs.' }),
    ),
    lastReport: optional(lastReport),
    slowestWorker: optional(slowestWorker),
    checkpoint: optional(checkpoint),
    tracking: optional(trackingStatus),
    output: optional(outputStatus),
    history: optional(keptHistory),
    ...commonStatus,
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the training run. Set by the operator.' },
)

export type TrainingJobStatus = Infer<typeof trainingStatus>
export type TrainingJobState = (typeof states)[number]
export type LastFailure = Infer<typeof lastFailure>
export type CheckpointStatus = Infer<typeof checkpoint>
export type LastReport = Infer<typeof lastReport>
export type { SlowestWorker } from './slowest-worker.ts'
