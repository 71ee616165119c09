/** TrainingJob v1alpha1: the first version, for manifests and clients that were written for it. Never stored. */

import { computeResources } from './compute.ts'
import { conditionsSchema } from './conditions.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { cel, type Infer, int32, object, optional, staysInside, strEnum, text } from './schema.ts'
import {
  alphaFrameworks,
  args,
  command,
  commonStatus,
  dataVolume,
  hyperparameters,
  image,
  restartPolicy,
} from './training-parts.ts'

export const MAX_ALPHA_WORKERS = 100

export const phases = ['Pending', 'Running', 'Succeeded', 'Failed'] as const

const spec = object(
  {
    framework: strEnum(alphaFrameworks, { description: 'Framework of the training code.' }),
    image,
    command,
    args: optional(args),
    workers: int32({
      description: 'Number of workers. May change while the job runs.',
      minimum: 1,
      maximum: MAX_ALPHA_WORKERS,
      default: 1,
    }),
    gpuPerWorker: int32({
      description: 'GPUs of each worker. Immutable.',
      minimum: 0,
      maximum: 8,
      default: 0,
      rules: [
        cel(
          'self == oldSelf',
          'gpuPerWorker is immutable: create another TrainingJob to train with a different number of GPUs',
          { reason: 'FieldValueForbidden' },
        ),
      ],
    }),
    resources: optional(computeResources('CPU, memory and other resources of each worker.')),
    dataVolume: optional(dataVolume),
    checkpointDir: optional(
      text({
        description: 'Directory at which the checkpoint volume is mounted. Absent: no checkpoints are kept.',
        minLength: 1,
        maxLength: 1024,
        pattern: '^/',
        rules: [staysInside('checkpointDir')],
        examples: ['/checkpoints/mnist'],
      }),
    ),
    checkpointInterval: int32({ description: 'Save a checkpoint every this many epochs.', minimum: 1, default: 1 }),
    hyperparameters: optional(hyperparameters),
    restartPolicy,
  },
  { description: 'What to train, and with what.' },
)

const status = object(
  {
    phase: optional(strEnum(phases, { description: 'Where the job stands.' })),
    ...commonStatus,
    conditions: optional(conditionsSchema),
  },
  { description: 'What is known about the run. Written by the operator.' },
)

export type AlphaTrainingJobSpec = Infer<typeof spec>
export type AlphaTrainingJobStatus = Infer<typeof status>
export type TrainingJobPhase = (typeof phases)[number]
export type AlphaTrainingJob = CustomObject<AlphaTrainingJobSpec, AlphaTrainingJobStatus>

export const trainingJobV1alpha1 = {
  name: 'v1alpha1',
  storage: false,
  description:
    'A training run, in its first version. Converted to and from v1 without loss; write new manifests in v1.',
  spec,
  status,
  columns: [
    { name: 'Framework', type: 'string', jsonPath: '.spec.framework', description: 'Framework.' },
    { name: 'Workers', type: 'integer', jsonPath: '.spec.workers', description: 'Workers asked for.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where the job stands.' },
    AGE,
  ],
} as const satisfies KindVersion
