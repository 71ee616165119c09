/** TrainingJob v1, the stored version: everything a training run is asked to do, and what is known about it. */

import { checkpoint } from './checkpoint.ts'
import { computeResources } from './compute.ts'
import { environment } from './environment.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { cel, flag, type Infer, int32, int64, object, optional, type Rule, strEnum, text } from './schema.ts'
import { failurePolicy } from './training-failure.ts'
import { args, command, dataVolume, frameworks, hyperparameters, image, restartPolicy } from './training-parts.ts'
import { roleRules, roles } from './training-roles.ts'
import { scheduling } from './training-scheduling.ts'
import { type TrainingJobStatus, trainingStatus } from './training-status.ts'
import { envFrom, imagePullSecrets, serviceAccountName, volumeMounts, volumes } from './training-volumes.ts'

export const MAX_WORKERS = 1024

const workers = (description: string, options: { readonly default?: number } = {}) =>
  int32({ description, minimum: 1, maximum: MAX_WORKERS, ...options })

const elastic = object(
  {
    minWorkers: workers('The fewest workers that the training can go on with.', { default: 1 }),
    maxWorkers: workers('The most workers that the training can make use of.'),
  },
  {
    description: 'Lets the number of workers change while the job runs. Absent: the number is fixed.',
    examples: [{ minWorkers: 2, maxWorkers: 8 }],
    rules: [
      cel(
        'self.minWorkers <= self.maxWorkers',
        'elastic.minWorkers must not be greater than elastic.maxWorkers: lower minWorkers or raise maxWorkers',
        { fieldPath: '.minWorkers' },
      ),
    ],
  },
)

const env = environment('Environment variables of every worker, beside those that the operator sets.', 'gpusPerWorker')

const networking = object(
  {
    masterPort: int32({
      description: 'Port at which rank 0 gathers the others.',
      minimum: 1,
      maximum: 65535,
      default: 29500,
    }),
    backend: optional(
      strEnum(['nccl', 'gloo'], {
        description: 'How the workers exchange gradients. Absent: `nccl` with GPUs, `gloo` without.',
      }),
    ),
  },
  { description: 'How the workers find each other and talk.', default: {} },
)

/** Neither added, nor removed, nor changed. */
const fixed = (field: string): Rule =>
  cel(
    `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    `${field} is immutable: create another TrainingJob to train with a different ${field}`,
    { fieldPath: `.${field}`, reason: 'FieldValueForbidden' },
  )

const spec = object(
  {
    model: optional(
      text({
        description: 'Model architecture to train. Immutable.',
        minLength: 1,
        maxLength: 253,
        examples: ['resnet50'],
      }),
    ),
    dataset: optional(
      text({ description: 'Dataset to train on. Immutable.', minLength: 1, maxLength: 1024, examples: ['imagenet'] }),
    ),
    framework: strEnum(frameworks, {
      description: 'Framework of the training code; decides how the workers are told about each other. Immutable.',
      default: 'pytorch',
    }),
    image: optional(image),
    command: optional(command),
    args: optional(args),
    env: optional(env),
    envFrom: optional(envFrom),
    engine: strEnum(['pods', 'job'], {
      description: 'What runs the workers: pods that the operator itself creates, or an Indexed Job. Immutable.',
      default: 'pods',
    }),
    numWorkers: workers(
      'Number of workers that train together. Changes only while `elastic` is set or the job is suspended.',
      { default: 1 },
    ),
    gpusPerWorker: int32({
      description: 'GPUs of each worker. Immutable.',
      minimum: 0,
      maximum: 8,
      default: 1,
      rules: [
        cel(
          'self == oldSelf',
          'gpusPerWorker is immutable: create another TrainingJob to train with a different number of GPUs',
          { reason: 'FieldValueForbidden' },
        ),
      ],
    }),
    procsPerWorker: optional(
      int32({
        description: 'Processes of each worker. Absent: one per GPU, and one without GPUs.',
        minimum: 1,
        maximum: 64,
        examples: [8],
      }),
    ),
    roles: optional(roles),
    elastic: optional(elastic),
    suspend: flag({ description: 'Stop the workers and keep the job; false lets it go on.', default: false }),
    hyperparameters: optional(hyperparameters),
    checkpoint,
    dataVolume: optional(dataVolume),
    networking,
    resources: optional(computeResources('CPU, memory and other resources of each worker.')),
    restartPolicy,
    backoffLimit: int32({
      description: 'Failures that are repaired by a restart before the job counts as failed.',
      minimum: 0,
      maximum: 10,
      default: 3,
    }),
    failurePolicy: optional(failurePolicy),
    activeDeadlineSeconds: optional(
      int64({
        description:
          'How long the job may take, from its start or the last time it was resumed, before it counts as failed.',
        minimum: 1,
        examples: [86400],
      }),
    ),
    ttlSecondsAfterFinished: optional(
      int32({
        description: 'How long the job is kept after its end; then it is deleted. Absent: until somebody deletes it.',
        minimum: 0,
        examples: [604800],
      }),
    ),
    cleanPodPolicy: strEnum(['Running', 'All', 'None'], {
      description: 'Which pods are deleted when the job has ended: those that still run, all of them, or none.',
      default: 'Running',
    }),
    scheduling: optional(scheduling),
    serviceAccountName: optional(serviceAccountName),
    imagePullSecrets: optional(imagePullSecrets),
    volumes: optional(volumes),
    volumeMounts: optional(volumeMounts),
  },
  {
    description: 'What to train, with what, and how to carry on when something breaks.',
    rules: [
      cel(
        '(has(self.image) && has(self.command)) || (has(self.model) && has(self.dataset))',
        'either image and command, or model and dataset, must be set: add the missing one of the pair',
        { fieldPath: '.model', reason: 'FieldValueRequired' },
      ),
      cel(
        '!has(self.elastic) || (self.elastic.minWorkers <= self.numWorkers && self.numWorkers <= self.elastic.maxWorkers)',
        'numWorkers must lie between elastic.minWorkers and elastic.maxWorkers: change numWorkers or the bounds',
        { fieldPath: '.numWorkers' },
      ),
      cel(
        'self.numWorkers == oldSelf.numWorkers || has(self.elastic) || self.suspend || oldSelf.suspend',
        'numWorkers can change only while elastic is set or the job is suspended: set spec.elastic, or spec.suspend to true first',
        { fieldPath: '.numWorkers', reason: 'FieldValueForbidden' },
      ),
      ...roleRules,
      cel(
        '!has(self.volumeMounts) || (has(self.volumes) && self.volumeMounts.all(mount, self.volumes.exists(volume, volume.name == mount.name)))',
        'volumeMounts.name must be the name of one of the volumes: add the volume or correct the name',
        { fieldPath: '.volumeMounts' },
      ),
      fixed('model'),
      fixed('dataset'),
      fixed('framework'),
      fixed('engine'),
      fixed('roles'),
    ],
  },
)

export type TrainingJobSpec = Infer<typeof spec>
export type TrainingJob = CustomObject<TrainingJobSpec, TrainingJobStatus>

export const trainingJobV1 = {
  name: 'v1',
  storage: true,
  description: 'A training run: one or many workers that train one model together.',
  spec,
  status: trainingStatus,
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state', description: 'Where the job stands.' },
    { name: 'Progress', type: 'string', jsonPath: '.status.progress', description: 'How much is done.' },
    { name: 'Epoch', type: 'integer', jsonPath: '.status.currentEpoch', description: 'Epoch being trained.' },
    { name: 'Workers', type: 'integer', jsonPath: '.spec.numWorkers', description: 'Workers asked for.' },
    AGE,
    { name: 'Framework', type: 'string', jsonPath: '.spec.framework', description: 'Framework.', wide: true },
    {
      name: 'GPUs',
      type: 'integer',
      jsonPath: '.status.resources.allocatedGPUs',
      description: 'GPUs held.',
      wide: true,
    },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'Why it is so.', wide: true },
    { name: 'Duration', type: 'string', jsonPath: '.status.duration', description: 'Time since start.', wide: true },
  ],
  scale: { specReplicasPath: '.spec.numWorkers', statusReplicasPath: '.status.workers.active' },
} as const satisfies KindVersion
