/**
 * One attempt at the training: a gang of pods that start together and are told the same things. Its number and size are
 * one fact, stored before the first of its pods is created (of the first attempt with the job's acceptance, of all others
 * in the status); another size is another attempt. That is how every rank of
 * an attempt knows the same world size, whoever creates it and however often the operator is restarted meanwhile.
 */
import type { Role } from '../../api/training-roles.ts'
import type { TrainingJob, TrainingJobSpec } from '../../api/trainingjob.v1.ts'
import { firstSizeOf } from './acceptance.ts'
import { WORKER } from './names.ts'

export interface Attempt {
  /** Counted from 1; 0 while there was none. */
  readonly number: number
  readonly worldSize: number
}

/** A place in the gang. */
export interface Seat {
  readonly role: string
  readonly index: number
}

export function attemptOf(job: TrainingJob): Attempt {
  const { attempts, worldSize = 0 } = job.status ?? {}
  if (attempts !== undefined) return { number: attempts, worldSize }
  const size = firstSizeOf(job)
  return size === undefined ? { number: 0, worldSize: 0 } : { number: 1, worldSize: size }
}

/** The roles of a job. Somebody has to launch an MPI job, whether the spec mentions it or not. */
export function rolesOf({ framework, roles = [] }: TrainingJobSpec): readonly Role[] {
  const needsLauncher = framework === 'mpi' && !roles.some(({ name }) => name === 'launcher')
  return needsLauncher ? [...roles, { name: 'launcher', replicas: 1 }] : roles
}

/** All places in the gang, workers first. */
export function seatsOf({ spec }: TrainingJob, { worldSize }: Attempt): readonly Seat[] {
  const others = rolesOf(spec).flatMap(({ name, replicas }) => seats(name, replicas))
  return [...seats(WORKER, worldSize), ...others]
}

/** Whoever decides by its own end how the job ends; absent: all workers together. */
export function leadingRole(spec: TrainingJobSpec): string | undefined {
  return rolesOf(spec).find(({ name }) => name === 'chief' || name === 'launcher')?.name
}

export const procsPerWorker = ({ procsPerWorker: wanted, gpusPerWorker }: TrainingJobSpec): number =>
  wanted ?? Math.max(1, gpusPerWorker)

/** A chief trains like a worker; servers, evaluators and launchers have the GPUs that they ask for. */
export function gpusOf(spec: TrainingJobSpec, role: string): number {
  const { gpus } = rolesOf(spec).find(({ name }) => name === role) ?? {}
  return gpus ?? (role === WORKER || role === 'chief' ? spec.gpusPerWorker : 0)
}

export const seatKey = ({ role, index }: Seat): string => `${role}/${index}`

function seats(role: string, count: number): Seat[] {
  return Array.from({ length: count }, (_, index) => ({ role, index }))
}
