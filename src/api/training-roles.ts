/** Roles of a TrainingJob: pods beside its workers, such as a chief, parameter servers, an evaluator or a launcher. */

import { computeResources } from './compute.ts'
import { trainingGuards } from './pod-guards.ts'
import { podTemplate } from './pod-template.ts'
import { cel, type Infer, int32, listMap, object, optional, strEnum } from './schema.ts'
import { args, command, image } from './training-parts.ts'

export const roleNames = ['chief', 'ps', 'evaluator', 'launcher'] as const

const role = object(
  {
    name: strEnum(roleNames, {
      description:
        'Name of the role: `chief`, `ps` (parameter server) or `evaluator` for tensorflow, `launcher` for mpi.',
    }),
    replicas: int32({ description: 'Number of pods.', minimum: 1, maximum: 128, default: 1 }),
    gpus: optional(
      int32({
        description:
          'Number of GPUs per pod. Defaults to gpusPerWorker for a chief, which trains too, and to 0 for other roles.',
        minimum: 0,
        maximum: 8,
        examples: [1],
      }),
    ),
    image: optional(image),
    command: optional(command),
    args: optional(args),
    resources: optional(computeResources('Compute resources for each pod of the role.')),
    podTemplate: optional(
      podTemplate('Additions to the pods of the role, merged after spec.podTemplate.', trainingGuards),
    ),
  },
  {
    description: 'Pods of one role. Omitted fields default to those of the workers.',
    rules: [
      cel(`self.name == 'ps' || self.replicas == 1`, 'roles[].replicas must be 1: only the role ps can have more', {
        fieldPath: '.replicas',
      }),
    ],
  },
)

export const roles = listMap(role, ['name'], {
  description:
    'Pods beside the workers. If there is a `chief` or `launcher`, its result is the result of the job. Immutable.',
  maxItems: 4,
  examples: [[{ name: 'chief' }, { name: 'ps', replicas: 2 }]],
})

export type Role = Infer<typeof role>

/** CEL rules of the spec that concern roles. */
export const roleRules = [
  cel(
    `!has(self.roles) || self.roles.all(role, role.name == 'launcher' ? self.framework == 'mpi' : self.framework == 'tensorflow')`,
    'roles[].name must match the framework: chief, ps and evaluator need framework tensorflow, launcher needs mpi',
    { fieldPath: '.roles' },
  ),
  cel(
    `self.engine != 'job' || (!has(self.roles) && self.framework != 'mpi')`,
    'engine job supports workers only: use engine pods for roles and for framework mpi',
    { fieldPath: '.engine' },
  ),
]
