/** Pods of a TrainingJob that do something else than its workers: a chief, parameter servers, an evaluator, a launcher. */

import { computeResources } from './compute.ts'
import { cel, type Infer, int32, listMap, object, optional, strEnum } from './schema.ts'
import { args, command, image } from './training-parts.ts'

export const roleNames = ['chief', 'ps', 'evaluator', 'launcher'] as const

const role = object(
  {
    name: strEnum(roleNames, {
      description:
        'What these pods do: `chief`, `ps` (parameter servers) and `evaluator` for tensorflow, `launcher` for mpi.',
    }),
    replicas: int32({ description: 'How many of them.', minimum: 1, maximum: 128, default: 1 }),
    gpus: optional(
      int32({
        description:
          'GPUs of each. Absent: as many as a worker has for a chief, which trains too, and none for the others.',
        minimum: 0,
        maximum: 8,
        examples: [1],
      }),
    ),
    image: optional(image),
    command: optional(command),
    args: optional(args),
    resources: optional(computeResources('CPU, memory and other resources of each.')),
  },
  {
    description: 'Pods with one task. What is left out is as for the workers.',
    rules: [
      cel(`self.name == 'ps' || self.replicas == 1`, 'roles.replicas must be 1: only the role ps can have several', {
        fieldPath: '.replicas',
      }),
    ],
  },
)

export const roles = listMap(role, ['name'], {
  description:
    'Pods that do something else than the workers. A `chief` or `launcher` decides by its own end how the job ends. Immutable.',
  maxItems: 4,
  examples: [[{ name: 'chief' }, { name: 'ps', replicas: 2 }]],
})

export type Role = Infer<typeof role>

/** Rules of a spec that concern its roles. */
export const roleRules = [
  cel(
    `!has(self.roles) || self.roles.all(role, role.name == 'launcher' ? self.framework == 'mpi' : self.framework == 'tensorflow')`,
    'roles must fit the framework: chief, ps and evaluator need framework tensorflow, launcher needs mpi',
    { fieldPath: '.roles' },
  ),
  cel(
    `self.engine != 'job' || (!has(self.roles) && self.framework != 'mpi')`,
    'engine job knows workers only: use engine pods for roles and for framework mpi',
    { fieldPath: '.engine' },
  ),
]
