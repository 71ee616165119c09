/** TrainingJob v1alpha1, for existing manifests and clients. Served, but not stored. */

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
      description: 'Number of workers. Can change while the job runs.',
      minimum: 1,
      maximum: MAX_ALPHA_WORKERS,
      default: 1,
    }),
    gpuPerWorker: int32({
      description: 'Number of GPUs per worker. Immutable.',
      minimum: 0,
      maximum: 8,
      default: 0,
      rules: [
        cel(
          'self == oldSelf',
          'gpuPerWorker is immutable: create another TrainingJob with a different number of GPUs',
          { reason: 'FieldValueForbidden' },
        ),
      ],
    }),
    resources: optional(computeResources('Compute resources for each worker.')),
    dataVolume: optional(dataVolume),
    checkpointDir: optional(
      text({
        description: 'Mount path of the checkpoint volume. If omitted, checkpoints are disabled.',
        minLength: 1,
        maxLength: 1024,
        pattern: '^/',
        rules: [staysInside('checkpointDir')],
        examples: ['/checkpoints/mnist'],
      }),
    ),
    checkpointInterval: int32({ description: 'Number of epochs between checkpoints.', minimum: 1, default: 1 }),
    hyperparameters: optional(hyperparameters),
    restartPolicy,
  },
  { description: 'Desired state of the training run.' },
)

const status = object(
  {
    phase: optional(strEnum(phases, { description: 'Phase of the job.' })),
    ...commonStatus,
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the training run. Set by the operator.' },
)

export type AlphaTrainingJobSpec = Infer<typeof spec>
export type AlphaTrainingJobStatus = Infer<typeof status>
export type TrainingJobPhase = (typeof phases)[number]
export type AlphaTrainingJob = CustomObject<AlphaTrainingJobSpec, AlphaTrainingJobStatus>

export const trainingJobV1alpha1 = {
  name: 'v1alpha1',
  storage: false,
  description:
    'TrainingJob runs one or more workers that train one model together. Converted to and from v1 without loss; use v1 for new manifests.',
  spec,
  status,
  columns: [
    { name: 'Framework', type: 'string', jsonPath: '.spec.framework', description: 'Framework of the training code.' },
    { name: 'Workers', type: 'integer', jsonPath: '.spec.workers', description: 'Desired number of workers.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the job.' },
    AGE,
  ],
} as const satisfies KindVersion
