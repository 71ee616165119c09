/** The parts of a TrainingJob that both of its versions share word for word. */

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

export const image = text({
  description: 'Container image that the workers run.',
  minLength: 1,
  maxLength: 512,
  pattern: '^[^\\s]+$',
  examples: ['pytorch/pytorch:1.12.0-cuda11.3'],
})

export const command = list(text({ description: 'One word of the command.', examples: ['python'] }), {
  description: "The command that trains, as a list of words; it replaces the image's entrypoint.",
  minItems: 1,
  maxItems: 256,
  examples: [['python', '/workspace/train.py', '--epochs=10']],
})

export const args = list(text({ description: 'One argument.', examples: ['--batch-size=64'] }), {
  description: 'Arguments appended to the command.',
  maxItems: 256,
  examples: [['--batch-size=64']],
})

export const hyperparameters = object(
  {
    learningRate: optional(
      numberOrText({ description: 'Step size of the optimizer: a number.', pattern: NUMERIC, examples: [0.001] }),
    ),
    batchSize: optional(
      intOrString({ description: 'Samples per step and worker: a whole number.', pattern: COUNT, examples: [32] }),
    ),
    epochs: optional(
      intOrString({ description: 'Passes over the dataset: a whole number.', pattern: COUNT, examples: [10] }),
    ),
  },
  {
    description:
      'Settings handed to the training code: each reaches the workers as `HYPERPARAM_<NAME>` and all of them as JSON. ' +
      'Beside the three named here, any name and any JSON value is kept as it is.',
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
    readOnly: optional(flag({ description: 'Mount the volume so that the workers cannot write to it.' })),
  },
  { description: 'Volume with the training data, mounted into every worker.' },
)

export const restartPolicy = strEnum(['OnFailure', 'Never'], {
  description: 'Whether a worker whose container fails is started again.',
  default: 'OnFailure',
})

const workerStatus = object(
  {
    workerId: int32({ description: 'Rank of the worker, counted from 0.', minimum: 0 }),
    podName: optional(text({ description: 'Pod that runs the worker.', maxLength: 253, examples: ['bert-workers-0'] })),
    phase: optional(
      strEnum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'], { description: 'Phase of the pod.' }),
    ),
    status: optional(
      text({
        description: 'The phase in words, with the reason where there is one.',
        maxLength: 1024,
        examples: ['Running'],
      }),
    ),
    restartCount: optional(int32({ description: 'How often the worker has been started again.', minimum: 0 })),
  },
  { description: 'One worker.' },
)

/** The part of the status that means the same in both versions. */
export const commonStatus = {
  startTime: optional(dateTime({ description: 'When the first worker ran.' })),
  completionTime: optional(dateTime({ description: 'When the job ended, well or not.' })),
  workerStatuses: optional(
    listMap(workerStatus, ['workerId'], { description: 'The workers, one by one.', maxItems: 1024 }),
  ),
  observedGeneration: optional(
    int64({ description: 'The generation of the spec that this status speaks of.', minimum: 0 }),
  ),
}

export type WorkerStatus = Infer<typeof workerStatus>
export type Hyperparameters = Infer<typeof hyperparameters> & Readonly<Record<string, unknown>>
