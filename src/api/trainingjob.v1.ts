/** TrainingJob v1, the storage version. */

import { checkpoint } from './checkpoint.ts'
import { computeResources } from './compute.ts'
import { imagePullSecrets } from './container-image.ts'
import { environment } from './environment.ts'
import { type CustomObject, type KindVersion } from './kind.ts'
import { managedBy } from './managed-by.ts'
import { cel, flag, type Infer, int32, int64, object, optional, type Rule, strEnum, text } from './schema.ts'
import { trainingGuards } from './pod-guards.ts'
import { podTemplate } from './pod-template.ts'
import { envFrom, mountedVolumesRule } from './pod-volumes.ts'
import { trainingColumns } from './training-columns.ts'
import { elastic, workers } from './training-elastic.ts'
import { failurePolicy } from './training-failure.ts'
import { deployedVersionRules, output, outputRules } from './training-output.ts'
import { args, command, dataVolume, frameworks, hyperparameters, image, restartPolicy } from './training-parts.ts'
import { progress } from './training-progress.ts'
import { roleRules, roles } from './training-roles.ts'
import { scheduling } from './training-scheduling.ts'
import { stall } from './training-stall.ts'
import { type TrainingJobStatus, trainingStatus } from './training-status.ts'
import { tracking } from './training-tracking.ts'
import { ownPathRules, serviceAccountName, volumeMounts, volumes } from './training-volumes.ts'

export { MAX_WORKERS } from './training-elastic.ts'

const env = environment(
  'Environment variables for every worker, in addition to those that the operator sets.',
  'gpusPerWorker',
)

const networking = object(
  {
    masterPort: int32({
      description: 'Port of rank 0 that the other ranks connect to.',
      minimum: 1,
      maximum: 65535,
      default: 29500,
    }),
    backend: optional(
      strEnum(['nccl', 'gloo'], {
        description: 'Communication backend. Defaults to `nccl` with GPUs and to `gloo` without.',
      }),
    ),
  },
  { description: 'How workers connect to each other.', default: {} },
)

const TEMPLATE_CONTAINERS = 'self.podTemplate.spec.containers'
const hasTemplateContainers = `has(self.podTemplate) && has(self.podTemplate.spec) && has(${TEMPLATE_CONTAINERS})`

const podTemplateRules: readonly Rule[] = [
  cel(
    `self.engine != 'job' || !(${hasTemplateContainers}) || ${TEMPLATE_CONTAINERS}.all(one, one.name == '${trainingGuards.container.name}')`,
    'podTemplate.spec.containers must have no sidecar with engine job, because a Job counts the exit of every container: ' +
      'move it to initContainers with restartPolicy Always, or use engine pods',
    { fieldPath: '.podTemplate.spec.containers' },
  ),
  cel(
    `!(${hasTemplateContainers}) || !has(self.checkpoint.storage.path) || ` +
      `!${TEMPLATE_CONTAINERS}.exists(one, has(one.volumeMounts) && one.volumeMounts.exists(mount, mount.mountPath == self.checkpoint.storage.path && one.name == '${trainingGuards.container.name}'))`,
    'podTemplate.spec.containers[].volumeMounts must not have the mountPath checkpoint.storage.path, where the operator mounts the checkpoints: choose another path',
    { fieldPath: '.podTemplate.spec.containers' },
  ),
]

/** Rejects adding, removing or changing the field. */
const immutable = (field: string): Rule =>
  cel(
    `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    `${field} is immutable: create another TrainingJob with the new ${field}`,
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
      description: 'Framework of the training code. It determines how workers discover each other. Immutable.',
      default: 'pytorch',
    }),
    image: optional(image),
    command: optional(command),
    args: optional(args),
    env: optional(env),
    envFrom: optional(envFrom),
    engine: strEnum(['pods', 'job'], {
      description: 'How workers run: as Pods that the operator creates, or as one Indexed Job. Immutable.',
      default: 'pods',
    }),
    numWorkers: workers('Number of workers. Can change only while `elastic` is set or the job is suspended.', {
      default: 1,
    }),
    gpusPerWorker: int32({
      description: 'Number of GPUs per worker. Immutable.',
      minimum: 0,
      maximum: 8,
      default: 1,
      rules: [
        cel(
          'self == oldSelf',
          'gpusPerWorker is immutable: create another TrainingJob with a different number of GPUs',
          { reason: 'FieldValueForbidden' },
        ),
      ],
    }),
    procsPerWorker: optional(
      int32({
        description: 'Number of processes per worker. Defaults to one per GPU, or to one without GPUs.',
        minimum: 1,
        maximum: 64,
        examples: [8],
      }),
    ),
    roles: optional(roles),
    elastic: optional(elastic),
    managedBy: optional(managedBy),
    suspend: flag({ description: 'Stops the workers and keeps the job. Set to false to resume.', default: false }),
    hyperparameters: optional(hyperparameters),
    checkpoint,
    dataVolume: optional(dataVolume),
    networking,
    resources: optional(computeResources('Compute resources for each worker.')),
    restartPolicy,
    backoffLimit: int32({
      description: 'Number of retries before the job is marked as failed. Disruptions such as preemption do not count.',
      minimum: 0,
      maximum: 10,
      default: 3,
    }),
    failurePolicy: optional(failurePolicy),
    stall: optional(stall),
    progress: optional(progress),
    activeDeadlineSeconds: optional(
      int64({
        description:
          'Maximum duration of the job in seconds, after which it fails. Measured from `status.startTime`, when the first ' +
          'worker ran, or from the last resume. Time spent waiting for the first node does not count.',
        minimum: 1,
        examples: [86400],
      }),
    ),
    ttlSecondsAfterFinished: optional(
      int32({
        description: 'Seconds to keep the job after it finishes. It is then deleted. If omitted, the job is kept.',
        minimum: 0,
        examples: [604800],
      }),
    ),
    cleanPodPolicy: strEnum(['Running', 'All', 'None'], {
      description: 'Which pods to delete when the job finishes: those still running, all of them, or none.',
      default: 'Running',
    }),
    scheduling: optional(scheduling),
    serviceAccountName: optional(serviceAccountName),
    imagePullSecrets: optional(imagePullSecrets),
    volumes: optional(volumes),
    volumeMounts: optional(volumeMounts),
    tracking: optional(tracking),
    output: optional(output),
    podTemplate: optional(
      podTemplate('Additions to every pod of the job: whatever a PodSpec has and other fields do not.', trainingGuards),
    ),
  },
  {
    description: 'Desired state of the training run.',
    rules: [
      cel(
        '(has(self.image) && has(self.command)) || (has(self.model) && has(self.dataset))',
        'either image and command, or model and dataset, must be set: add the missing one of the pair',
        { fieldPath: '.model', reason: 'FieldValueRequired' },
      ),
      cel(
        '!has(self.elastic) || (self.elastic.minWorkers <= self.numWorkers && self.numWorkers <= self.elastic.maxWorkers)',
        'numWorkers must be between elastic.minWorkers and elastic.maxWorkers: change numWorkers or the bounds',
        { fieldPath: '.numWorkers' },
      ),
      cel(
        'self.numWorkers == oldSelf.numWorkers || has(self.elastic) || self.suspend || oldSelf.suspend',
        'numWorkers can change only while elastic is set or the job is suspended: set spec.elastic, or spec.suspend to true first',
        { fieldPath: '.numWorkers', reason: 'FieldValueForbidden' },
      ),
      ...roleRules,
      mountedVolumesRule,
      ...ownPathRules,
      ...podTemplateRules,
      ...outputRules,
      immutable('model'),
      immutable('dataset'),
      immutable('framework'),
      immutable('engine'),
      immutable('managedBy'),
      immutable('roles'),
    ],
  },
)

export type TrainingJobSpec = Infer<typeof spec>
export type TrainingJob = CustomObject<TrainingJobSpec, TrainingJobStatus>

export const trainingJobV1 = {
  name: 'v1',
  storage: true,
  description: 'TrainingJob runs one or more workers that train one model together.',
  spec,
  status: trainingStatus,
  columns: trainingColumns,
  rules: [
    cel(
      '!has(self.spec.checkpoint.resumeFrom) || self.spec.checkpoint.resumeFrom != self.metadata.name',
      'checkpoint.resumeFrom must not be the job itself, which resumes from its own checkpoints anyway: name another job, or remove it',
      { fieldPath: '.spec.checkpoint.resumeFrom' },
    ),
    ...deployedVersionRules,
  ],
  scale: {
    specReplicasPath: '.spec.numWorkers',
    statusReplicasPath: '.status.workers.active',
    labelSelectorPath: '.status.selector',
  },
} as const satisfies KindVersion
