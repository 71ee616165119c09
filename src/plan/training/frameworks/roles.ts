/** The roles of a job and what its framework makes of them. */
import type { Role } from '../../../api/training-roles.ts'
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { WORKER } from '../names.ts'
import type { Attempt, Replica } from '../observe/attempt.ts'
import type { RoleTraits } from './contract.ts'
import { frameworkOf } from './registry.ts'

/** Roles of a job beside its workers: those of its spec, and those that its framework implies. */
export function rolesOf(spec: TrainingJobSpec): readonly Role[] {
  const { roles = [] } = spec
  const known = Object.entries(frameworkOf(spec).roles ?? {}) as [Role['name'], RoleTraits][]
  const implied = known.filter(([name, { isImplied }]) => isImplied && !roles.some((role) => role.name === name))
  return [...roles, ...implied.map(([name]) => ({ name, replicas: 1 }))]
}

/** All replicas of an attempt, workers first. */
export function replicasOf({ spec }: TrainingJob, { worldSize }: Attempt): readonly Replica[] {
  const others = rolesOf(spec).flatMap(({ name, replicas }) => replicasIn(name, replicas))
  return [...replicasIn(WORKER, worldSize), ...others]
}

function replicasIn(role: string, count: number): Replica[] {
  return Array.from({ length: count }, (_, index) => ({ role, index }))
}

/** What a message calls the members of the gang, counted together. */
export const memberNoun = (spec: TrainingJobSpec): string => (rolesOf(spec).length > 0 ? 'pod' : WORKER)

/** The role whose success completes the job. */
export function decidingRole(spec: TrainingJobSpec): string {
  return rolesOf(spec).find(({ name }) => traitsOf(spec, name).decidesSuccess)?.name ?? WORKER
}

export const startsAfterWorkers = (spec: TrainingJobSpec, role: string): boolean =>
  traitsOf(spec, role).startsAfterWorkers ?? false

/** GPUs of each pod of a role. */
export function gpusOf(spec: TrainingJobSpec, role: string): number {
  const { gpus } = rolesOf(spec).find(({ name }) => name === role) ?? {}
  return gpus ?? (role === WORKER || traitsOf(spec, role).usesWorkerGpus ? spec.gpusPerWorker : 0)
}

function traitsOf(spec: TrainingJobSpec, role: string): RoleTraits {
  const traits: Readonly<Record<string, RoleTraits>> = frameworkOf(spec).roles ?? {}
  return traits[role] ?? {}
}
