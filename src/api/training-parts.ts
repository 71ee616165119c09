/** Fields that both versions of TrainingJob share. */

import { containerImage } from './container-image.ts'
import {
  DNS_SUBDOMAIN,
  dateTime,
  flag,
  type Infer,
  int32,
  int64,
  intOrString,
  list,
  listMap,
  numberOrText,
  object,
  optional,
  strEnum,
  text,
} from './schema.ts'

const NUMERIC = '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$'
const COUNT = '^[0-9]+$'

export const alphaFrameworks = ['pytorch', 'tensorflow', 'xgboost'] as const
export const frameworks = [...alphaFrameworks, 'jax', 'mpi', 'custom'] as const

export const image = containerImage('Container image of the workers.', 'pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime')

export const command = list(text({ description: 'A word of the command.', examples: ['python'] }), {
  description: "Command that starts the training. Replaces the image's entrypoint.",
  minItems: 1,
  maxItems: 256,
  examples: [['python', '/workspace/train.py', '--epochs=10']],
})

export const args = list(text({ description: 'An argument.', examples: ['--batch-size=64'] }), {
  description: 'Arguments appended to the command.',
  maxItems: 256,
  examples: [['--batch-size=64']],
})

export const hyperparameters = object(
  {
    learningRate: optional(
      numberOrText({ description: 'Learning rate of the optimizer.', pattern: NUMERIC, examples: [0.001] }),
    ),
    batchSize: optional(
      intOrString({ description: 'Samples per step and worker. An integer.', pattern: COUNT, examples: [32] }),
    ),
    epochs: optional(
      intOrString({ description: 'Passes over the dataset. An integer.', pattern: COUNT, examples: [10] }),
    ),
  },
  {
    description:
      'Hyperparameters for the training code. Each is set as `HYPERPARAM_<NAME>`, and all of them are mounted as a JSON file. ' +
      'Other names with any JSON value are accepted.',
    extra: { 'x-kubernetes-preserve-unknown-fields': true },
    examples: [{ learningRate: 0.001, batchSize: 32, epochs: 10, optimizer: 'adam' }],
  },
)

export const dataVolume = object(
  {
    claimName: text({
      description: 'Name of a PersistentVolumeClaim in the namespace of the job.',
      maxLength: 253,
      pattern: DNS_SUBDOMAIN,
      examples: ['training-data-pvc'],
    }),
    readOnly: optional(flag({ description: 'Mounts the volume read-only.' })),
  },
  { description: 'Volume with the training data, mounted in every worker.' },
)

export const restartPolicy = strEnum(['OnFailure', 'Never'], {
  description: 'Whether to restart after a worker fails.',
  default: 'OnFailure',
})

const workerStatus = object(
  {
    workerId: int32({ description: 'Rank of the worker, starting at 0.', minimum: 0 }),
    podName: optional(text({ description: 'Pod of the worker.', maxLength: 253, examples: ['bert-workers-0'] })),
    phase: optional(
      strEnum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'], { description: 'Phase of the pod.' }),
    ),
    status: optional(
      text({
        description: 'Phase of the pod, with the reason if there is one.',
        maxLength: 1024,
        examples: ['Running'],
      }),
    ),
    restartCount: optional(
      int32({ description: 'Number of restarts since the worker was added to the job.', minimum: 0 }),
    ),
    gpuUtilization: optional(
      int32({ description: 'Average utilization of the GPUs of the worker in percent.', minimum: 0, maximum: 100 }),
    ),
  },
  { description: 'Status of a worker.' },
)

/** Status fields with the same meaning in both versions. */
export const commonStatus = {
  startTime: optional(dateTime({ description: 'Time when the first worker started to run.' })),
  completionTime: optional(dateTime({ description: 'Time when the job completed or failed.' })),
  workerStatuses: optional(
    listMap(workerStatus, ['workerId'], { description: 'Status of each worker.', maxItems: 1024 }),
  ),
  observedGeneration: optional(
    int64({ description: 'Generation of the spec that this status is based on.', minimum: 0 }),
  ),
}

export type WorkerStatus = Infer<typeof workerStatus>
export type Hyperparameters = Infer<typeof hyperparameters> & Readonly<Record<string, unknown>>
